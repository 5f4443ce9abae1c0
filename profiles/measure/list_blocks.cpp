#include "profiles/measure/list_blocks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/index.h"
#include "base/philox.h"
#include "plan/host_cache.h"

namespace gnomon::profiles {
namespace {

using base::at;
using graph::VertexId;

/// Neighbours that a read of a list draws, on average over the hops; -1 draws all.
double mean_fanout(const plan::Job& job, const EpochCounts& epoch) {
  double lists = 0;
  double draws = 0;
  for (const auto& batch : epoch.batches) {
    for (std::size_t hop = 0; hop < batch.hops.size(); ++hop) {
      const auto destinations = static_cast<double>(batch.hops[hop].destinations);
      const int fanout = job.fanouts[hop];
      lists += destinations;
      draws += destinations * (fanout < 0 ? 1e9 : fanout);
    }
  }
  return lists > 0 ? draws / lists : 0;
}

/// Reads of `draws` random places in a list of so many bytes, near ones merged.
double reads_of_list(double bytes, double draws) {
  const double apart = std::max(0.0, 1 - static_cast<double>(plan::disk_gap_bytes) / bytes);
  return 1 + std::max(0.0, draws - 1) * std::pow(apart, draws);
}

/// Sets `drawn` to the different ones of so many blocks that random draws hit.
void draw_blocks(base::RandomStream& random, std::int64_t blocks, std::int64_t draws,
                 std::vector<std::int64_t>& drawn) {
  drawn.clear();
  for (std::int64_t draw = 0; draw < draws; ++draw) {
    drawn.push_back(static_cast<std::int64_t>(random.uniform() * static_cast<double>(blocks)));
  }
  std::sort(drawn.begin(), drawn.end());
  drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
}

}  // namespace

std::int64_t BlockCounts::sum() const { return std::accumulate(uses.begin(), uses.end(), std::int64_t{0}); }

BlockCounts count_blocks(const graph::Graph& graph, const plan::Job& job, const EpochCounts& epoch,
                         std::uint64_t number, std::int64_t block_bytes) {
  const auto index_bytes =
      static_cast<std::int64_t>(graph.indices.is_narrow() ? sizeof(std::uint32_t) : sizeof(VertexId));
  const double fanout = mean_fanout(job, epoch);
  BlockCounts counts;
  counts.uses.resize(at(graph.num_edges() * index_bytes / block_bytes + 1), 0);
  base::RandomStream random(
      {.seed = job.seed, .purpose = base::Purpose::simulate, .epoch = number, .level = 1});
  std::vector<std::int64_t> drawn;
  for (VertexId vertex = 0; vertex < graph.num_vertices(); ++vertex) {
    const std::int64_t degree = graph.degree(vertex);
    const auto uses = epoch.lists[at(vertex)];
    if (uses == 0 || degree == 0) {
      continue;
    }
    const std::int64_t begin = graph.indptr[at(vertex)] * index_bytes;
    const std::int64_t first = begin / block_bytes;
    const std::int64_t blocks = (begin + degree * index_bytes - 1) / block_bytes - first + 1;
    const double draws = std::min(static_cast<double>(degree), fanout);
    counts.reads += uses * reads_of_list(static_cast<double>(degree * index_bytes), draws);
    if (blocks == 1 || draws >= static_cast<double>(degree)) {
      for (std::int64_t block = first; block < first + blocks; ++block) {
        counts.uses[at(block)] += uses;
      }
      continue;
    }
    for (std::int32_t use = 0; use < uses; ++use) {
      draw_blocks(random, blocks, std::lround(draws), drawn);
      for (const std::int64_t block : drawn) {
        ++counts.uses[at(first + block)];
      }
    }
  }
  return counts;
}

}  // namespace gnomon::profiles
