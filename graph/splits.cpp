#include "graph/splits.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/philox.h"

namespace gnomon::graph {
namespace {

void shuffle(std::span<VertexId> vertices, std::uint64_t seed, std::uint32_t level) {
  base::RandomStream random({seed, base::Purpose::split, 0, 0, level, 0});
  for (std::size_t left = vertices.size(); left > 1; --left) {
    std::swap(vertices[left - 1], vertices[random.below(left)]);
  }
}

/// Appends the first `train` vertices to the training set, the next `valid` to the validation set, and the
/// others to the test set.
void append_to_sets(std::span<const VertexId> vertices, std::int64_t train, std::int64_t valid,
                    Split& split) {
  const auto first = vertices.begin();
  split.train.insert(split.train.end(), first, first + train);
  split.valid.insert(split.valid.end(), first + train, first + train + valid);
  split.test.insert(split.test.end(), first + train + valid, vertices.end());
}

Split per_class(std::span<const std::int32_t> labels, std::int32_t num_classes, const SplitOptions& options,
                const std::string& where) {
  std::vector<std::vector<VertexId>> members(static_cast<std::size_t>(num_classes));
  for (std::size_t vertex = 0; vertex < labels.size(); ++vertex) {
    if (labels[vertex] >= 0) {
      members[static_cast<std::size_t>(labels[vertex])].push_back(static_cast<VertexId>(vertex));
    }
  }
  const std::int64_t needed = options.train_per_class + options.valid_per_class;
  Split split;
  for (std::size_t label = 0; label < members.size(); ++label) {
    const auto size = static_cast<std::int64_t>(members[label].size());
    if (size > 0 && size < needed) {
      throw base::InputError(where,
                             "class " + std::to_string(label) + " has " + std::to_string(size) +
                                 " vertices; a per_class split needs train_per_class + valid_per_class = " +
                                 std::to_string(needed));
    }
    if (size > 0) {
      shuffle(members[label], options.seed, static_cast<std::uint32_t>(label & 0xFFU));
      append_to_sets(members[label], options.train_per_class, options.valid_per_class, split);
    }
  }
  return split;
}

Split by_ratio(std::span<const std::int32_t> labels, const SplitOptions& options, const std::string& where) {
  if (options.train_share + options.valid_share > 1 + 1e-9) {
    throw base::InputError(where, "train_share + valid_share must be at most 1");
  }
  std::vector<VertexId> vertices;
  for (std::size_t vertex = 0; vertex < labels.size(); ++vertex) {
    if (labels[vertex] >= 0) {
      vertices.push_back(static_cast<VertexId>(vertex));
    }
  }
  shuffle(vertices, options.seed, 0);
  const auto total = static_cast<std::int64_t>(vertices.size());
  const auto share = [&](double part) {
    return static_cast<std::int64_t>(std::llround(part * static_cast<double>(total)));
  };
  const std::int64_t train = share(options.train_share);
  const std::int64_t valid = std::min(total - train, share(options.valid_share));
  Split split;
  append_to_sets(vertices, train, valid, split);
  return split;
}

}  // namespace

Split draw_split(std::span<const std::int32_t> labels, std::int32_t num_classes, const SplitOptions& options,
                 const std::string& where) {
  Split split = options.method == SplitMethod::per_class ? per_class(labels, num_classes, options, where)
                                                         : by_ratio(labels, options, where);
  for (auto* set : {&split.train, &split.valid, &split.test}) {
    std::sort(set->begin(), set->end());
  }
  return split;
}

}  // namespace gnomon::graph
