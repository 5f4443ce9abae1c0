#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document.h"

namespace gnomon::plan {

enum class ModelKind : std::uint8_t { gcn, sage, gat };

/// The precision of products of fp32 matrices, as in torch.set_float32_matmul_precision. Sums are fp32 in all
/// cases.
enum class MatmulPrecision : std::uint8_t {
  highest,  ///< fp32 factors
  high,     ///< a GPU may round factors to TF32
  medium,   ///< a CPU with bf16 instructions (AVX-512 BF16, AMX) may also round factors to bf16
};

}  // namespace gnomon::plan

namespace gnomon::base {

template <>
struct EnumNames<plan::ModelKind> {
  static constexpr std::array<std::pair<plan::ModelKind, std::string_view>, 3> values{
      {{plan::ModelKind::gcn, "gcn"}, {plan::ModelKind::sage, "sage"}, {plan::ModelKind::gat, "gat"}}};
};
template <>
struct EnumNames<plan::MatmulPrecision> {
  static constexpr std::array<std::pair<plan::MatmulPrecision, std::string_view>, 3> values{
      {{plan::MatmulPrecision::highest, "highest"},
       {plan::MatmulPrecision::high, "high"},
       {plan::MatmulPrecision::medium, "medium"}}};
};

}  // namespace gnomon::base

namespace gnomon::plan {

/// What is trained: the model, its optimiser and its mini-batches. Together with the graph it determines the
/// result of every exact plan, bit for bit on one machine.
struct Job {
  static constexpr std::string_view schema = "gnomon.job/1";

  ModelKind model = ModelKind::sage;
  /// Neighbours per vertex in each hop, from the seeds outwards, one hop for each layer; -1 takes all.
  std::vector<int> fanouts = {15, 10, 5};
  /// Neighbours are drawn without replacement, with probabilities proportional to the edges' weights;
  /// otherwise uniformly. Edges of weight 0 are never drawn. Evaluation reads all neighbours in both cases.
  bool weighted = false;
  int batch_size = 1024;
  int hidden = 256;  ///< width of hidden layers (of all heads together for GAT)
  int heads = 4;     ///< GAT attention heads in hidden layers
  double dropout = 0.5;
  double learning_rate = 0.003;
  double weight_decay = 0.0;  ///< L2 penalty, as in PyTorch's Adam
  int epochs = 10;
  /// Training stops after this many epochs without a higher validation accuracy, or the same accuracy with a
  /// lower loss; 0: never.
  int patience = 0;
  MatmulPrecision matmul_precision = MatmulPrecision::highest;
  std::uint64_t seed = 0;

  int layers() const { return static_cast<int>(fanouts.size()); }

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("model", self.model);
    f("fanouts", self.fanouts, base::Range{-1, 512});
    f("weighted", self.weighted);
    f("batch_size", self.batch_size, base::Range{1, 1 << 24});
    f("hidden", self.hidden, base::Range{1, 1 << 16});
    f("heads", self.heads, base::Range{1, 256});
    f("dropout", self.dropout, base::Range{0, 0.99});
    f("learning_rate", self.learning_rate, base::Range{0, 1e3});
    f("weight_decay", self.weight_decay, base::Range{0, 1e3});
    f("epochs", self.epochs, base::Range{1, 1e6});
    f("patience", self.patience, base::Range{0, 1e6});
    f("matmul_precision", self.matmul_precision);
    f("seed", self.seed, base::Range{0, 1.8e19});
  }
  bool operator==(const Job&) const = default;
};

/// Throws InputError if there are no fanouts or more than 16, one is 0, or `heads` does not divide `hidden`.
void check(const Job& job, const std::string& where);

}  // namespace gnomon::plan
