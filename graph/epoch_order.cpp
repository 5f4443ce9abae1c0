#include "graph/epoch_order.h"

#include <algorithm>

#include "base/philox.h"
#include "base/shuffle.h"

namespace gnomon::graph {

std::vector<VertexId> epoch_order(std::span<const VertexId> train, std::uint64_t seed, std::uint64_t epoch) {
  std::vector<VertexId> order(train.begin(), train.end());
  base::RandomStream random({.seed = seed, .purpose = base::Purpose::shuffle, .epoch = epoch});
  base::shuffle(order, random);
  return order;
}

std::span<const VertexId> batch_seeds(std::span<const VertexId> order, std::int64_t batch_size,
                                      std::int64_t batch) {
  const auto first = static_cast<std::size_t>(batch * batch_size);
  return order.subspan(first, std::min(static_cast<std::size_t>(batch_size), order.size() - first));
}

}  // namespace gnomon::graph
