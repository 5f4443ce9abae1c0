#include "python/c_api/seeds.h"

#include <bit>
#include <cmath>
#include <utility>

#include "base/philox.h"
#include "base/radix_sort.h"
#include "python/c_api/gnomon.h"

namespace gnomon::c_api {
namespace {

/// Returns the rows of a block for all seeds, given those of the distinct ones, followed by the other rows.
void repeat_rows(const DistinctSeeds& distinct, kernels::Block& block) {
  kernels::Block repeated;
  const auto append = [&](std::size_t row) {
    const auto begin = static_cast<std::ptrdiff_t>(block.indptr[row]);
    const auto end = static_cast<std::ptrdiff_t>(block.indptr[row + 1]);
    repeated.indices.insert(repeated.indices.end(), block.indices.begin() + begin,
                            block.indices.begin() + end);
    repeated.edge_ids.insert(repeated.edge_ids.end(), block.edge_ids.begin() + begin,
                             block.edge_ids.begin() + end);
    repeated.indptr.push_back(std::ssize(repeated.indices));
  };
  repeated.indptr.push_back(0);
  for (const std::int64_t seed : distinct.positions) {
    append(static_cast<std::size_t>(seed));
  }
  for (std::size_t row = distinct.vertices.size(); row + 1 < block.indptr.size(); ++row) {
    append(row);
  }
  block.indptr = std::move(repeated.indptr);
  block.indices = std::move(repeated.indices);
  block.edge_ids = std::move(repeated.edge_ids);
}

}  // namespace

void find_distinct(std::span<const std::int64_t> seeds, kernels::cpu::IdTable& table,
                   DistinctSeeds& distinct) {
  table.clear();
  distinct.vertices.clear();
  distinct.positions.clear();
  for (const std::int64_t seed : seeds) {
    const std::int32_t position = table.find_or_add(seed);
    if (position == std::ssize(distinct.vertices)) {
      distinct.vertices.push_back(seed);
    }
    distinct.positions.push_back(position);
  }
}

void find_sorted(std::span<const std::int64_t> seeds, std::int64_t num_vertices, SeedSort& memory,
                 DistinctSeeds& distinct) {
  auto& records = memory.records;
  records.clear();
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    records.push_back({static_cast<std::uint64_t>(seeds[i]), i});
  }
  base::radix_sort(records, memory.scratch, std::bit_width(static_cast<std::uint64_t>(num_vertices - 1)),
                   [](const SeedSort::Record& record) { return record.vertex; });
  distinct.vertices.clear();
  distinct.positions.resize(seeds.size());
  for (const auto& [vertex, position] : records) {
    const auto seed = static_cast<std::int64_t>(vertex);
    if (distinct.vertices.empty() || distinct.vertices.back() != seed) {
      distinct.vertices.push_back(seed);
    }
    distinct.positions[position] = std::ssize(distinct.vertices) - 1;
  }
}

void repeat_seeds(const DistinctSeeds& distinct, bool expands_every_hop, kernels::MiniBatch& batch) {
  const std::size_t num_distinct = distinct.vertices.size();
  const std::int64_t added = std::ssize(distinct.positions) - std::ssize(distinct.vertices);
  std::vector<std::int32_t> first(num_distinct);  // position of each distinct seed among all seeds
  std::vector<std::int64_t> vertices;
  for (std::size_t i = distinct.positions.size(); i-- > 0;) {
    first[static_cast<std::size_t>(distinct.positions[i])] = static_cast<std::int32_t>(i);
  }
  for (const std::int64_t seed : distinct.positions) {
    vertices.push_back(distinct.vertices[static_cast<std::size_t>(seed)]);
  }
  vertices.insert(vertices.end(), batch.vertices.begin() + static_cast<std::ptrdiff_t>(num_distinct),
                  batch.vertices.end());
  batch.vertices = std::move(vertices);
  batch.num_seeds += added;
  for (std::size_t hop = 0; hop < batch.blocks.size(); ++hop) {
    kernels::Block& block = batch.blocks[hop];
    block.num_sources += added;
    if (hop == 0 || expands_every_hop) {
      repeat_rows(distinct, block);
      block.num_destinations += added;
    }
    for (std::int32_t& id : block.indices) {
      const auto old = static_cast<std::size_t>(id);
      id = old < num_distinct ? first[old] : id + static_cast<std::int32_t>(added);
    }
  }
}

std::vector<std::int64_t> link_endpoints(const Links& links, std::int64_t num_vertices,
                                         const kernels::BatchKey& key) {
  const auto count = links.sources.size();
  const auto negatives =
      links.negatives == GNOMON_NO_NEGATIVES
          ? std::size_t{0}
          : static_cast<std::size_t>(std::ceil(static_cast<double>(count) * links.negatives_per_link));
  // Level 1 of the purpose; epoch orders use level 0.
  base::RandomStream random({.seed = key.seed,
                             .purpose = base::Purpose::shuffle,
                             .epoch = key.epoch,
                             .batch = key.batch,
                             .level = 1});
  std::vector<std::int64_t> endpoints(links.sources.begin(), links.sources.end());
  const auto add_negatives = [&] {
    for (std::size_t i = 0; i < negatives; ++i) {
      endpoints.push_back(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(num_vertices))));
    }
  };
  if (links.negatives == GNOMON_BINARY) {
    add_negatives();
  }
  endpoints.insert(endpoints.end(), links.destinations.begin(), links.destinations.end());
  add_negatives();
  return endpoints;
}

}  // namespace gnomon::c_api
