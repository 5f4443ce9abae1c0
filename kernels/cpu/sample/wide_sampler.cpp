#include "kernels/cpu/sample/wide_sampler.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/headroom.h"
#include "kernels/replacement_rule.h"
#include "kernels/weighted_rule.h"

namespace gnomon::kernels::cpu {

WideSampler::WideSampler(Topology topology, std::vector<int> fanouts, bool edge_ids, const SamplingRule& rule)
    : topology_(std::move(topology)), fanouts_(std::move(fanouts)), edge_ids_(edge_ids), rule_(rule) {
  if (topology_.open_lists) {
    lists_ = topology_.open_lists();
  }
}

std::size_t WideSampler::sample(const BatchKey& key, std::span<const graph::VertexId> seeds,
                                MiniBatch& batch) {
  table_.clear();
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    if (table_.find_or_add(seeds[i]) != static_cast<std::int64_t>(i)) {
      return i;
    }
  }
  batch.num_seeds = static_cast<std::int64_t>(seeds.size());
  batch.vertices.assign(seeds.begin(), seeds.end());
  batch.blocks.resize(fanouts_.size());
  std::size_t first = 0;
  for (std::size_t hop = 0; hop < fanouts_.size(); ++hop) {
    Block& block = batch.blocks[hop];
    draw_edges(key, static_cast<std::uint32_t>(hop), first, batch, block);
    first = rule_.expansion == Expansion::once ? batch.vertices.size() : 0;
    read_neighbours();
    relabel(batch, block);
  }
  return seeds.size();
}

// Draws for the batch's vertices from `first` on. Writes the positions of the drawn edges to edges_ and the
// destinations' ranges to block.indptr.
void WideSampler::draw_edges(const BatchKey& key, std::uint32_t hop, std::size_t first,
                             const MiniBatch& batch, Block& block) {
  const std::size_t destinations = batch.vertices.size() - first;
  block.num_destinations = static_cast<std::int64_t>(destinations);
  block.indptr.resize(destinations + 1);
  block.indptr[0] = 0;
  edges_.clear();
  const std::uint32_t number = rule_.first_hop + hop;
  for (std::size_t v = 0; v < destinations; ++v) {
    const graph::VertexId vertex = batch.vertices[first + v];
    if (rule_.replace && fanouts_[hop] >= 0) {
      draw_with_replacement(key, number, vertex, fanouts_[hop]);
    } else if (!topology_.draws_by_weight()) {
      draw_uniform(key, number, vertex, fanouts_[hop]);
    } else {
      draw_by_weight(key, number, vertex, fanouts_[hop]);
    }
    block.indptr[v + 1] = static_cast<std::int64_t>(edges_.size());
  }
}

void WideSampler::draw_uniform(const BatchKey& key, std::uint32_t hop, graph::VertexId vertex, int fanout) {
  const std::int64_t first = topology_.indptr[static_cast<std::size_t>(vertex)];
  const std::int64_t degree = topology_.degree(vertex);
  if (fanout == -1 || degree <= fanout) {
    for (std::int64_t i = 0; i < degree; ++i) {
      edges_.push_back(first + i);
    }
    return;
  }
  std::array<std::int64_t, max_fanout> drawn;
  draw_positions(key, hop, vertex, degree, fanout, drawn.data());
  for (int i = 0; i < fanout; ++i) {
    edges_.push_back(first + drawn[static_cast<std::size_t>(i)]);
  }
}

void WideSampler::draw_by_weight(const BatchKey& key, std::uint32_t hop, graph::VertexId vertex, int fanout) {
  const WeightedList list = topology_.weighted_list(vertex);
  if (takes_all(list.degree, fanout)) {
    for (std::int64_t i = 0; i < list.degree; ++i) {
      if (list.columns[i].threshold > 0) {
        edges_.push_back(list.first_edge + i);
      }
    }
    return;
  }
  std::array<std::int64_t, max_fanout> drawn;
  std::array<double, max_fanout> keys;
  const std::int64_t count = drawn_by_weight(topology_.num_positive(vertex), fanout);
  kernels::draw_by_weight(key, hop, vertex, list, static_cast<int>(count), drawn.data(), keys.data());
  for (std::int64_t i = 0; i < count; ++i) {
    edges_.push_back(list.first_edge + drawn[static_cast<std::size_t>(i)]);
  }
}

void WideSampler::draw_with_replacement(const BatchKey& key, std::uint32_t hop, graph::VertexId vertex,
                                        int fanout) {
  const bool by_weight = topology_.draws_by_weight();
  if ((by_weight ? topology_.num_positive(vertex) : topology_.degree(vertex)) == 0) {
    return;
  }
  std::array<std::int64_t, max_fanout> drawn;
  if (by_weight) {
    draw_by_weight_with_replacement(key, hop, vertex, topology_.weighted_list(vertex), fanout, drawn.data());
  } else {
    draw_positions_with_replacement(key, hop, vertex, topology_.degree(vertex), fanout, drawn.data());
  }
  const std::int64_t first = topology_.indptr[static_cast<std::size_t>(vertex)];
  for (int i = 0; i < fanout; ++i) {
    edges_.push_back(first + drawn[static_cast<std::size_t>(i)]);
  }
}

void WideSampler::read_neighbours() {
  if (lists_) {
    resize_with_headroom(neighbours_, edges_.size());
    lists_->read(edges_, neighbours_);
  }
}

void WideSampler::relabel(MiniBatch& batch, Block& block) {
  block.indices.resize(edges_.size());
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    const graph::VertexId vertex = neighbour(e);
    const std::int32_t local = table_.find_or_add(vertex);
    if (local == static_cast<std::int64_t>(batch.vertices.size())) {
      batch.vertices.push_back(vertex);
    }
    block.indices[e] = local;
  }
  block.num_sources = static_cast<std::int64_t>(batch.vertices.size());
  if (edge_ids_) {
    block.edge_ids = edges_;
  } else {
    block.edge_ids.clear();
  }
}

std::int64_t WideSampler::bytes() const {
  return table_.bytes() + static_cast<std::int64_t>(edges_.capacity() * sizeof(std::int64_t) +
                                                    neighbours_.capacity() * sizeof(graph::VertexId));
}

graph::VertexId WideSampler::neighbour(std::size_t drawn) const {
  if (lists_) {
    return neighbours_[drawn];
  }
  const auto at = static_cast<std::size_t>(edges_[drawn]);
  return topology_.narrow_indices.empty() ? topology_.indices[at]
                                          : static_cast<graph::VertexId>(topology_.narrow_indices[at]);
}

}  // namespace gnomon::kernels::cpu
