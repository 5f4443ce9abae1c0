#include "python/c_api/edges.h"

#include <algorithm>

namespace gnomon::c_api {
namespace {

/// The number of vertices after `hop` hops; that of the seeds for 0.
std::int64_t vertices_after(const kernels::MiniBatch& batch, std::size_t hop) {
  return hop == 0 ? batch.num_seeds : batch.blocks[hop - 1].num_sources;
}

}  // namespace

void write_edges(const kernels::MiniBatch& batch, bool expands_every_hop, const EdgeList& out) {
  std::int64_t first = 0;
  std::int64_t written = 0;
  for (const kernels::Block& block : batch.blocks) {
    std::copy(block.indices.begin(), block.indices.end(), out.sources + written);
    std::copy(block.edge_ids.begin(), block.edge_ids.end(), out.edges + written);
    for (std::int64_t v = 0; v < block.num_destinations; ++v) {
      const std::int64_t end = block.indptr[static_cast<std::size_t>(v) + 1];
      std::fill(out.destinations + written + block.indptr[static_cast<std::size_t>(v)],
                out.destinations + written + end, first + v);
    }
    written += block.num_edges();
    first = expands_every_hop ? 0 : first + block.num_destinations;
  }
}

void find_induced(const kernels::cpu::Topology& topology, std::span<const std::int64_t> vertices,
                  kernels::cpu::IdTable& table, InducedEdges& induced) {
  induced = {};
  std::vector<std::int64_t> positions;  // of the distinct vertices
  table.clear();
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    if (table.find_or_add(vertices[v]) == std::ssize(positions)) {
      positions.push_back(static_cast<std::int64_t>(v));
    }
  }
  for (const std::int64_t destination : positions) {
    const std::int64_t vertex = vertices[static_cast<std::size_t>(destination)];
    const std::int64_t begin = topology.indptr[static_cast<std::size_t>(vertex)];
    for (std::int64_t edge = begin; edge < begin + topology.degree(vertex); ++edge) {
      const auto at = static_cast<std::size_t>(edge);
      const std::int64_t source =
          topology.narrow_indices.empty() ? topology.indices[at] : std::int64_t{topology.narrow_indices[at]};
      if (const std::int32_t local = table.find(source); local >= 0) {
        induced.sources.push_back(positions[static_cast<std::size_t>(local)]);
        induced.destinations.push_back(destination);
        induced.edges.push_back(edge);
      }
    }
  }
}

void Forest::begin(std::span<const std::int64_t> seeds, std::size_t num_hops) {
  seeds_.assign(seeds.begin(), seeds.end());
  trees_.resize(std::max(trees_.size(), seeds.size()));
  num_trees_ = 0;
  num_hops_ = num_hops;
}

void Forest::add(const kernels::MiniBatch& tree) { trees_[num_trees_++] = tree; }

void Forest::finish(kernels::MiniBatch& batch, std::vector<std::int64_t>& trees) const {
  batch.num_seeds = std::ssize(seeds_);
  batch.vertices = seeds_;
  batch.blocks.assign(num_hops_, {});
  trees.clear();
  std::vector<std::vector<std::int32_t>> locals(num_trees_);  // of each tree's vertices in the whole batch
  for (std::size_t t = 0; t < num_trees_; ++t) {
    trees.push_back(static_cast<std::int64_t>(t));
    locals[t].push_back(static_cast<std::int32_t>(t));
  }
  for (std::size_t hop = 0; hop < num_hops_; ++hop) {
    kernels::Block& block = batch.blocks[hop];
    block.indptr.push_back(0);
    for (std::size_t t = 0; t < num_trees_; ++t) {
      const kernels::MiniBatch& tree = trees_[t];
      const kernels::Block& part = tree.blocks[hop];
      for (std::int64_t v = vertices_after(tree, hop); v < part.num_sources; ++v) {
        locals[t].push_back(static_cast<std::int32_t>(batch.vertices.size()));
        batch.vertices.push_back(tree.vertices[static_cast<std::size_t>(v)]);
        trees.push_back(static_cast<std::int64_t>(t));
      }
      for (std::int64_t v = 0; v < part.num_destinations; ++v) {
        block.indptr.push_back(block.num_edges() + part.indptr[static_cast<std::size_t>(v) + 1]);
      }
      for (const std::int32_t id : part.indices) {
        block.indices.push_back(locals[t][static_cast<std::size_t>(id)]);
      }
      block.edge_ids.insert(block.edge_ids.end(), part.edge_ids.begin(), part.edge_ids.end());
      block.num_destinations += part.num_destinations;
    }
    block.num_sources = std::ssize(batch.vertices);
  }
}

}  // namespace gnomon::c_api
