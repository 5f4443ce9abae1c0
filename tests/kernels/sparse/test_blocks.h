#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/block.h"

namespace gnomon::kernels {

/// The block whose destination v gathers from in_edges[v].
inline Block block_of(std::int64_t num_sources, const std::vector<std::vector<std::int32_t>>& in_edges) {
  Block block;
  block.num_destinations = static_cast<std::int64_t>(in_edges.size());
  block.num_sources = num_sources;
  block.indptr.push_back(0);
  for (const auto& sources : in_edges) {
    block.indices.insert(block.indices.end(), sources.begin(), sources.end());
    block.indptr.push_back(block.num_edges());
  }
  return block;
}

/// Every third destination has no edge, every seventh a hundred times the others' mean of about five; the
/// last quarter of the sources feeds nobody.
inline Block random_block(std::int64_t destinations, std::int64_t sources, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<std::int32_t>> in_edges(static_cast<std::size_t>(destinations));
  for (std::size_t v = 0; v < in_edges.size(); ++v) {
    in_edges[v].resize(v % 3 == 0 ? 0 : random() % 10 * (v % 7 == 0 ? 100 : 1));
    std::generate(in_edges[v].begin(), in_edges[v].end(), [&] {
      return static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(sources * 3 / 4));
    });
  }
  return block_of(sources, in_edges);
}

/// One destination that gathers from `degree` sources.
inline Block in_hub(std::int64_t degree) {
  std::vector<std::int32_t> sources(static_cast<std::size_t>(degree));
  std::generate(sources.begin(), sources.end(), [next = std::int32_t{0}]() mutable { return next++; });
  return block_of(degree, {sources});
}

/// `degree` destinations that gather from one source.
inline Block out_hub(std::int64_t degree) {
  return block_of(degree, std::vector<std::vector<std::int32_t>>(static_cast<std::size_t>(degree), {0}));
}

}  // namespace gnomon::kernels
