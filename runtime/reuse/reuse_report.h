#pragma once

#include <cstdint>
#include <vector>

namespace gnomon::runtime {

/// Statistics of a trained super-batch.
struct SuperBatchReport {
  std::int64_t hot = 0;        ///< vertices that counted as hot
  std::int64_t refreshed = 0;  ///< hot vertices used by the super-batch, whose embeddings were computed
  std::int64_t staleness = 0;  ///< maximum updates between the weights of an embedding and its use
  double epsilon = 0;  ///< max ‖ΔW‖∞ of the first layer's parameters over its updates, times twice its length

  bool operator==(const SuperBatchReport&) const = default;
};

/// The work that reused embeddings saved on the training device in an epoch, compared with the exact plan.
struct ReuseReport {
  std::int64_t vertices_not_sampled = 0;  ///< vertices of all mini-batches, each counted in each
  std::int64_t edges_not_aggregated = 0;  ///< of the first layer
  std::int64_t bytes_not_gathered = 0;    ///< of features
  std::vector<SuperBatchReport> super_batches;
};

}  // namespace gnomon::runtime
