#include "kernels/cpu/sampler.h"

#include <array>
#include <string>
#include <utility>

#include "base/error.h"

namespace gnomon::kernels::cpu {
namespace {

void check_fanouts(const std::vector<int>& fanouts) {
  if (fanouts.empty()) {
    throw base::InputError("fanouts", "there are none; give one a hop");
  }
  for (std::size_t hop = 0; hop < fanouts.size(); ++hop) {
    if (fanouts[hop] != -1 && (fanouts[hop] < 1 || fanouts[hop] > max_fanout)) {
      throw base::InputError("fanouts[" + std::to_string(hop) + "]",
                             std::to_string(fanouts[hop]) +
                                 " cannot be drawn; use -1 (all neighbours) or 1 to " +
                                 std::to_string(max_fanout));
    }
  }
}

[[noreturn]] void refuse_seed(std::size_t position, const std::string& what) {
  throw base::InputError("seeds[" + std::to_string(position) + "]", what);
}

}  // namespace

Sampler::Sampler(const graph::Graph& graph, std::vector<int> fanouts)
    : graph_(graph), fanouts_(std::move(fanouts)) {
  check_fanouts(fanouts_);
}

void Sampler::sample(const BatchKey& key, std::span<const graph::VertexId> seeds, MiniBatch& batch) {
  add_seeds(seeds, batch);
  batch.blocks.resize(fanouts_.size());
  for (std::size_t hop = 0; hop < fanouts_.size(); ++hop) {
    Block& block = batch.blocks[hop];
    draw_edges(key, static_cast<std::uint32_t>(hop), batch, block);
    read_neighbours();
    relabel(batch, block);
  }
}

void Sampler::add_seeds(std::span<const graph::VertexId> seeds, MiniBatch& batch) {
  table_.clear();
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    if (seeds[i] < 0 || seeds[i] >= graph_.num_vertices()) {
      refuse_seed(i, std::to_string(seeds[i]) + " is not a vertex; the graph has " +
                         std::to_string(graph_.num_vertices()));
    }
    if (table_.find_or_add(seeds[i]) != static_cast<std::int64_t>(i)) {
      refuse_seed(i, "vertex " + std::to_string(seeds[i]) + " comes twice; seeds must be distinct");
    }
  }
  batch.num_seeds = static_cast<std::int64_t>(seeds.size());
  batch.vertices.assign(seeds.begin(), seeds.end());
}

// Leaves the positions of the drawn edges in edges_, the destinations' ranges in block.indptr.
void Sampler::draw_edges(const BatchKey& key, std::uint32_t hop, const MiniBatch& batch, Block& block) {
  constexpr std::size_t ahead = 16;
  const int fanout = fanouts_[hop];
  const std::size_t destinations = batch.vertices.size();
  std::array<std::int64_t, max_fanout> drawn;
  block.num_destinations = static_cast<std::int64_t>(destinations);
  block.indptr.resize(destinations + 1);
  block.indptr[0] = 0;
  edges_.clear();
  for (std::size_t v = 0; v < destinations; ++v) {
    if (v + ahead < destinations) {
      __builtin_prefetch(&graph_.indptr[static_cast<std::size_t>(batch.vertices[v + ahead])]);
    }
    const graph::VertexId vertex = batch.vertices[v];
    const std::int64_t first = graph_.indptr[static_cast<std::size_t>(vertex)];
    const std::int64_t degree = graph_.degree(vertex);
    if (fanout == -1 || degree <= fanout) {
      for (std::int64_t i = 0; i < degree; ++i) {
        edges_.push_back(first + i);
      }
    } else {
      draw_positions(key, hop, vertex, degree, fanout, drawn.data());
      for (int i = 0; i < fanout; ++i) {
        edges_.push_back(first + drawn[static_cast<std::size_t>(i)]);
      }
    }
    block.indptr[v + 1] = static_cast<std::int64_t>(edges_.size());
  }
}

// A loop of its own: nothing here depends on an earlier turn, so many cache misses are under way at once.
void Sampler::read_neighbours() {
  for (std::int64_t& edge : edges_) {
    edge = graph_.indices[static_cast<std::size_t>(edge)];
  }
}

void Sampler::relabel(MiniBatch& batch, Block& block) {
  constexpr std::size_t ahead = 16;
  const std::size_t count = edges_.size();
  block.indices.resize(count);
  for (std::size_t e = 0; e < count; ++e) {
    if (e + ahead < count) {
      table_.prefetch(edges_[e + ahead]);
    }
    const std::int32_t local = table_.find_or_add(edges_[e]);
    if (local == static_cast<std::int64_t>(batch.vertices.size())) {
      batch.vertices.push_back(edges_[e]);
    }
    block.indices[e] = local;
  }
  block.num_sources = static_cast<std::int64_t>(batch.vertices.size());
}

}  // namespace gnomon::kernels::cpu
