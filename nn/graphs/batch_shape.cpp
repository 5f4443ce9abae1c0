#include "nn/graphs/batch_shape.h"

#include <algorithm>

namespace gnomon::nn {
namespace {

std::int64_t with_slack(std::int64_t size) {
  constexpr std::int64_t slack = 32;  // a 32nd of the size
  constexpr std::int64_t multiple = 32;
  const std::int64_t more = size + size / slack;
  return (more + multiple - 1) / multiple * multiple;
}

}  // namespace

BatchShape shape_of(const TensorBatch& batch) {
  BatchShape shape{batch.labels.size(0), {}};
  for (const auto& block : batch.blocks) {
    shape.hops.push_back({block->num_sources(), block->num_edges()});
  }
  return shape;
}

bool fits(const BatchShape& shape, const BatchShape& room) {
  return shape.seeds <= room.seeds && shape.hops.size() == room.hops.size() &&
         std::equal(shape.hops.begin(), shape.hops.end(), room.hops.begin(),
                    [](const auto& own, const auto& all) {
                      return own.vertices <= all.vertices && own.edges <= all.edges;
                    });
}

BatchShape larger(const BatchShape& left, const BatchShape& right) {
  if (left.hops.empty() || right.hops.empty()) {
    return left.hops.empty() ? right : left;
  }
  auto both = left;
  both.seeds = std::max(left.seeds, right.seeds);
  for (std::size_t hop = 0; hop < both.hops.size(); ++hop) {
    both.hops[hop].vertices = std::max(left.hops[hop].vertices, right.hops[hop].vertices);
    both.hops[hop].edges = std::max(left.hops[hop].edges, right.hops[hop].edges);
  }
  return both;
}

BatchShape with_slack(const BatchShape& shape) {
  auto room = shape;
  for (auto& hop : room.hops) {
    hop = {with_slack(hop.vertices), with_slack(hop.edges)};
  }
  return room;
}

}  // namespace gnomon::nn
