#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/cpu/sample/topology.h"
#include "kernels/weighted_rule.h"
#include "tests/kernels/sample/sampler_contract.h"

/// Draws by weight by the words of their definition, one word and one edge after another. The alias tables
/// are the product's, which alias_tables_test.cpp checks against the weights.
namespace gnomon::kernels {

/// Word i of a stream.
inline std::uint32_t word_of(const base::StreamKey& stream, std::size_t i) {
  return base::random_words(stream, static_cast<std::uint32_t>(i / 4)).word[i % 4];
}

/// The position that attempt i gives.
inline std::int64_t attempted(const WeightedList& list, const base::StreamKey& stream, std::size_t i) {
  __extension__ using Wide = unsigned __int128;
  const auto degree = static_cast<std::uint64_t>(list.degree);
  std::uint64_t column = 0;
  std::uint32_t part = 0;
  if (degree <= 65536) {
    column = (word_of(stream, 2 * i) * degree) >> 32;
    part = word_of(stream, 2 * i + 1);
  } else {
    const std::uint64_t words = (std::uint64_t{word_of(stream, 4 * i)} << 32) | word_of(stream, 4 * i + 1);
    column = static_cast<std::uint64_t>((Wide{words} * degree) >> 64);
    part = word_of(stream, 4 * i + 2);
  }
  const AliasColumn& taken = list.columns[column];
  return part < taken.threshold ? static_cast<std::int64_t>(column) : std::int64_t{taken.other};
}

/// The positions of positive weight that are not in `drawn` in the order of the keys log(u) / weight, the
/// largest first.
inline std::vector<std::int64_t> by_largest_keys(const WeightedList& list, const BatchKey& key,
                                                 std::uint32_t hop, const std::vector<std::int64_t>& drawn) {
  std::vector<std::pair<long double, std::int64_t>> keys;
  for (std::int64_t i = 0; i < list.degree; ++i) {
    if (list.weights[i] > 0 && std::find(drawn.begin(), drawn.end(), i) == drawn.end()) {
      const auto edge = static_cast<std::uint64_t>(list.first_edge + i);
      const base::Words4 words = base::random_words(
          {key.seed, base::Purpose::reservoir_keys, key.epoch, key.batch, hop, edge / 2}, 0);
      const std::uint64_t bits =
          (std::uint64_t{words.word[edge % 2 * 2]} << 32) | words.word[edge % 2 * 2 + 1];
      keys.emplace_back(std::log1p(static_cast<long double>(bits) * -0x1p-64L) / list.weights[i], i);
    }
  }
  std::stable_sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::int64_t> positions;
  for (const auto& [value, position] : keys) {
    positions.push_back(position);
  }
  return positions;
}

/// The positions that one vertex draws; `raced` counts those that the attempts left to the race.
inline std::vector<std::int64_t> weighted_draws(const cpu::Topology& topology, const BatchKey& key,
                                                std::uint32_t hop, VertexId vertex, int fanout,
                                                std::int64_t* raced = nullptr) {
  const WeightedList list = topology.weighted_list(vertex);
  std::vector<std::int64_t> positive;
  for (std::int64_t i = 0; i < list.degree; ++i) {
    if (list.weights[i] > 0) {
      positive.push_back(i);
    }
  }
  if (fanout < 0 || list.degree <= fanout) {
    return positive;
  }
  const std::size_t count = std::min(positive.size(), static_cast<std::size_t>(fanout));
  const std::size_t attempts =
      4 * count + 32 + std::min<std::size_t>(static_cast<std::size_t>(list.degree) / 16, 4096);
  const base::StreamKey stream{key.seed, base::Purpose::alias_draws,        key.epoch, key.batch,
                               hop,      static_cast<std::uint64_t>(vertex)};
  std::vector<std::int64_t> drawn;
  for (std::size_t i = 0; i < attempts && drawn.size() < count; ++i) {
    const std::int64_t position = attempted(list, stream, i);
    if (std::find(drawn.begin(), drawn.end(), position) == drawn.end()) {
      drawn.push_back(position);
    }
  }
  const auto left = static_cast<std::ptrdiff_t>(count - drawn.size());
  if (left > 0) {
    const auto rest = by_largest_keys(list, key, hop, drawn);
    drawn.insert(drawn.end(), rest.begin(), rest.begin() + left);
  }
  if (raced != nullptr) {
    *raced += left;
  }
  return drawn;
}

inline MiniBatch weighted_reference_batch(const graph::Graph& graph, const std::vector<int>& fanouts,
                                          const BatchKey& key, const std::vector<VertexId>& seeds,
                                          bool once = false) {
  const auto topology = cpu::view_of(graph, cpu::Draws::by_weight);
  const auto draw = [&](std::uint32_t hop, VertexId vertex) {
    return weighted_draws(topology, key, hop, vertex, fanouts[hop]);
  };
  return reference_batch_of(graph, fanouts.size(), seeds, draw, once);
}

}  // namespace gnomon::kernels
