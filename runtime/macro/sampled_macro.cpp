#include "runtime/macro/sampled_macro.h"

#include <algorithm>
#include <utility>

#include "base/index.h"
#include "base/index_range.h"
#include "graph/epoch_order.h"
#include "kernels/sampling_rule.h"
#include "runtime/macro/reserve_more.h"

namespace gnomon::runtime {
namespace {

using base::at;
using graph::VertexId;

/// The hop numbers of macro-batches begin here, so that their draws are independent of the mini-batches'.
constexpr std::uint32_t first_hop = 128;

/// The fanouts of a macro-batch; -1, whole lists, above the samplers' maximum.
std::vector<int> fanouts_of(const plan::Job& job, const plan::Plan& plan) {
  auto fanouts = plan::macro_fanouts(job.fanouts, plan.macro);
  std::replace_if(
      fanouts.begin(), fanouts.end(), [](int fanout) { return fanout > kernels::max_fanout; }, -1);
  return fanouts;
}

/// The lists of a range of vertices.
struct ListsOfRange {
  std::vector<std::int64_t> sizes;
  std::vector<std::uint32_t> indices;
};

/// The neighbours drawn for each vertex in all hops, ascending, without repetitions.
ListsOfRange unite(const kernels::MiniBatch& sample, base::IndexRange vertices) {
  ListsOfRange lists;
  std::vector<std::uint32_t> drawn;
  for (std::int64_t vertex = vertices.begin; vertex < vertices.end; ++vertex) {
    drawn.clear();
    for (const auto& block : sample.blocks) {
      if (vertex < block.num_destinations) {
        drawn.insert(drawn.end(), block.indices.begin() + block.indptr[at(vertex)],
                     block.indices.begin() + block.indptr[at(vertex) + 1]);
      }
    }
    std::sort(drawn.begin(), drawn.end());
    drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
    lists.sizes.push_back(std::ssize(drawn));
    lists.indices.insert(lists.indices.end(), drawn.begin(), drawn.end());
  }
  return lists;
}

/// Fills indptr and indices with the team's threads.
void unite_hops(const kernels::MiniBatch& sample, base::Team& team, MacroArrays& arrays) {
  const auto vertices = std::ssize(sample.vertices);
  std::vector<ListsOfRange> shares(at(team.size()));
  team.step(
      [&](int member) { shares[at(member)] = unite(sample, base::chunk_of(vertices, member, team.size())); });
  arrays.indptr.reserve(at(vertices) + 1);
  arrays.indptr.push_back(0);
  for (const auto& share : shares) {
    for (const std::int64_t size : share.sizes) {
      arrays.indptr.push_back(arrays.indptr.back() + size);
    }
  }
  reserve_more(arrays.indices, at(arrays.indptr.back()));
  team.step([&](int member) {
    const auto first = arrays.indptr[at(base::chunk_of(vertices, member, team.size()).begin)];
    const auto& own = shares[at(member)].indices;
    std::copy(own.begin(), own.end(), arrays.indices.data() + first);
  });
  team.park();
}

}  // namespace

SampledMacro::SampledMacro(std::shared_ptr<const PlacedGraph> placed, plan::Job job, const plan::Plan& plan)
    : placed_(std::move(placed)),
      job_(std::move(job)),
      plan_(plan),
      sampler_(placed_->topology, fanouts_of(job_, plan), kernels::cpu::EdgeIds::omit,
               {std::max(1, plan.workers), {}, {}}, {.first_hop = first_hop}) {}

std::vector<MacroGroup> SampledMacro::groups(std::int64_t epoch) const {
  const auto order = graph::epoch_order(placed_->graph.train, job_.seed, static_cast<std::uint64_t>(epoch));
  const int count = (plan_.macro.partitions + plan_.macro.resident - 1) / plan_.macro.resident;
  std::vector<MacroGroup> groups;
  for (int number = 0; number < count; ++number) {
    const auto [begin, end] = base::chunk_of(std::ssize(order), number, count);
    if (end > begin) {
      groups.push_back({{}, {order.begin() + begin, order.begin() + end}});
    }
  }
  return groups;
}

std::shared_ptr<MacroBatch> SampledMacro::load(const MacroLayout& layout, std::int64_t group,
                                               std::int64_t epoch) {
  const auto& train = layout.group(group).train;
  const kernels::BatchKey key{job_.seed, static_cast<std::uint64_t>(epoch),
                              static_cast<std::uint64_t>(group)};
  sampler_.sample(key, train, sample_);
  auto& team = sampler_.team();
  MacroArrays arrays = spare_->take();
  arrays.vertices.assign(sample_.vertices.begin(), sample_.vertices.end());
  unite_hops(sample_, team, arrays);
  arrays.whole_degrees.resize(arrays.vertices.size());
  std::transform(arrays.vertices.begin(), arrays.vertices.end(), arrays.whole_degrees.begin(),
                 [&](VertexId vertex) { return placed_->graph.degree(vertex); });
  arrays.features =
      gather_locally(placed_->graph.features, arrays.vertices, {}, team, std::move(arrays.features.data));
  return std::make_shared<MacroBatch>(placed_->graph, std::move(arrays), train, plan_.workers,
                                      [spare = spare_](MacroArrays ended) { spare->put(std::move(ended)); });
}

std::int64_t SampledMacro::bytes() const {
  std::int64_t bytes = sampler_.bytes() + std::ssize(sample_.vertices) * std::int64_t{sizeof(VertexId)};
  for (const auto& block : sample_.blocks) {
    bytes += static_cast<std::int64_t>(block.indptr.size() * sizeof(std::int64_t) +
                                       block.indices.size() * sizeof(std::int32_t));
  }
  return bytes;
}

}  // namespace gnomon::runtime
