#include "kernels/cpu/sample/sampler.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "kernels/cpu/sample/worker_memory.h"
#include "kernels/headroom.h"
#include "kernels/sampling_input.h"

namespace gnomon::kernels::cpu {
Sampler::Sampler(const graph::Graph& graph, std::vector<int> fanouts, EdgeIds edge_ids)
    : Sampler(view_of(graph), std::move(fanouts), edge_ids) {}

namespace {

std::unique_ptr<base::Team> team_of(const BatchThreads& threads) {
  const int count = std::clamp(threads.count, 1, max_parts);
  return threads.fork_join ? std::make_unique<base::Team>(count, threads.fork_join)
                           : std::make_unique<base::Team>(count, threads.cores);
}

}  // namespace

Sampler::Sampler(Topology topology, std::vector<int> fanouts, EdgeIds edge_ids, const BatchThreads& threads,
                 const SamplingRule& rule)
    : topology_(std::move(topology)),
      fanouts_(std::move(fanouts)),
      edge_ids_(edge_ids),
      rule_(rule),
      team_(team_of(threads)) {
  check_fanouts(fanouts_);
  if (topology_.num_vertices() > graph::max_narrow_vertices || rule_.replace || topology_.open_lists) {
    wide_.emplace(topology_, fanouts_, edge_ids == EdgeIds::keep, rule_);
  } else if (team_->size() > 1) {
    split_.emplace(topology_, fanouts_, edge_ids == EdgeIds::keep, *team_, rule_);
  }
}

void Sampler::sample(const BatchKey& key, std::span<const graph::VertexId> seeds, MiniBatch& batch) {
  check_seeds(seeds.data(), seeds.size(), topology_.num_vertices());
  if (const std::size_t distinct = sample_checked(key, seeds, batch); distinct < seeds.size()) {
    refuse_repeated_seed(distinct, seeds[distinct]);
  }
}

std::size_t Sampler::sample_checked(const BatchKey& key, std::span<const graph::VertexId> seeds,
                                    MiniBatch& batch) {
  if (wide_) {
    return wide_->sample(key, seeds, batch);
  }
  return split_ ? split_->sample(key, seeds, batch) : sample_narrow(key, seeds, batch);
}

// Returns the number of seeds before the first repeated one.
std::size_t Sampler::sample_narrow(const BatchKey& key, std::span<const graph::VertexId> seeds,
                                   MiniBatch& batch) {
  clear_table(work_.table, std::min(work_.size + work_.size / 16, static_cast<std::int64_t>(work_.capacity)));
  work_.size = 0;
  work_.max_vertices = static_cast<std::size_t>(
      max_vertices(limits_of(topology_), static_cast<std::int64_t>(seeds.size()), fanouts_) +
      max_edges_in_flight(fanouts_));
  if (const std::size_t added = add_seeds(seeds.data(), seeds.size(), work_); added < seeds.size()) {
    return added;
  }
  batch.num_seeds = static_cast<std::int64_t>(seeds.size());
  batch.blocks.resize(fanouts_.size());
  std::int64_t first = 0;
  for (std::size_t hop = 0; hop < fanouts_.size(); ++hop) {
    const HopRequest request{&topology_,
                             key,
                             rule_.first_hop + static_cast<std::uint32_t>(hop),
                             fanouts_[hop],
                             edge_ids_ == EdgeIds::keep,
                             first};
    first = rule_.expansion == Expansion::once ? work_.size : 0;
    sample_hop(request, work_, batch.blocks[hop]);
  }
  reserve_with_headroom(batch.vertices, static_cast<std::size_t>(work_.size));
  batch.vertices.assign(work_.vertices.data(), work_.vertices.data() + work_.size);
  end_batch(work_);
  return seeds.size();
}

std::int64_t Sampler::bytes() const {
  if (wide_) {
    return wide_->bytes();
  }
  return split_ ? split_->bytes() : static_cast<std::int64_t>(work_.bytes());
}

}  // namespace gnomon::kernels::cpu
