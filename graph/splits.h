#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/document.h"
#include "graph/graph.h"

namespace gnomon::graph {

/// automatic: the split in the input data if it has one, otherwise ratio.
/// given: the split in the input data; it is an error if there is none.
/// per_class: the same number of training vertices for each class, drawn at random (Shchur et al., 2018).
/// ratio: random shares of all labelled vertices.
enum class SplitMethod : std::uint8_t { automatic, given, per_class, ratio };

struct SplitOptions {
  SplitMethod method = SplitMethod::automatic;
  std::int64_t train_per_class = 20;  ///< for per_class; the remaining vertices are the test set
  std::int64_t valid_per_class = 30;
  double train_share = 0.6;  ///< for ratio; the remaining vertices are the test set
  double valid_share = 0.2;
  std::uint64_t seed = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("method", self.method);
    f("train_per_class", self.train_per_class, base::Range{1, 1e12});
    f("valid_per_class", self.valid_per_class, base::Range{0, 1e12});
    f("train_share", self.train_share, base::Range{0, 1});
    f("valid_share", self.valid_share, base::Range{0, 1});
    f("seed", self.seed);
  }
};

/// The vertices of each set, ascending; the sets are disjoint.
struct Split {
  std::vector<VertexId> train, valid, test;
  bool empty() const { return train.empty() && valid.empty() && test.empty(); }
};

/// Draws a random split of the vertices whose label is not -1: by per_class if that is options.method,
/// otherwise by ratio. Uses 8 bytes per labelled vertex. Throws InputError, naming `where`, if a class is too
/// small or the shares exceed 1.
Split draw_split(std::span<const std::int32_t> labels, std::int32_t num_classes, const SplitOptions& options,
                 const std::string& where);

}  // namespace gnomon::graph

template <>
struct gnomon::base::EnumNames<gnomon::graph::SplitMethod> {
  static constexpr std::array<std::pair<graph::SplitMethod, std::string_view>, 4> values{
      {{graph::SplitMethod::automatic, "automatic"},
       {graph::SplitMethod::given, "given"},
       {graph::SplitMethod::per_class, "per_class"},
       {graph::SplitMethod::ratio, "ratio"}}};
};
