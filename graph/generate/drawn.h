#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "base/document.h"
#include "base/philox.h"
#include "base/progress.h"
#include "graph/fill_blocks.h"
#include "graph/import/source.h"

/// Helpers of the generators: random streams of edges and rows, keyed by seed and block.
namespace gnomon::graph::drawn {

/// The independent random streams of one seed.
enum class Part : std::uint8_t { edges, features, labels, permutation, accuracy };

inline base::StreamKey key_of(std::uint64_t seed, Part part, std::int64_t block = 0) {
  return {
      seed, base::Purpose::generate, static_cast<std::uint64_t>(part), static_cast<std::uint64_t>(block), 0,
      0};
}

/// Returns a stream of `count` edges from draw(random). Each block of edges has its own random stream.
template <class Draw>
EdgeStream edges(std::uint64_t seed, std::int64_t count, Draw draw) {
  return [=](const EdgeVisitor& visit) {
    constexpr std::int64_t block_edges = 1 << 16;
    const auto fill = [&](std::int64_t block, std::int64_t, std::span<Edge> edges) {
      base::RandomStream random(key_of(seed, Part::edges, block));
      for (Edge& edge : edges) {
        edge = draw(random);
      }
    };
    fill_blocks<Edge>(count, block_edges, fill, visit);
  };
}

/// Returns a stream of rows that are written block by block by fill(first vertex, rows, block number).
template <class Fill>
RowStream rows(std::int64_t vertices, std::int64_t columns, Fill fill) {
  return [=](const RowVisitor& visit) {
    constexpr std::int64_t block_rows = 1 << 10;
    const auto fill_rows = [&](std::int64_t block, std::int64_t first, std::span<float> rows) {
      fill(first / columns, rows, block);
    };
    fill_blocks<float>(vertices * columns, block_rows * columns, fill_rows, visit);
  };
}

/// Checks the ranges in the options' field table.
template <class Options>
void check_ranges(const Options& options, const std::string& where) {
  Options ignored;
  base::read_value(base::write_value(options), ignored, where, {});
}

/// Writes the store of a generated source.
template <class Options>
void write(GraphSource source, SourceOptions store, const Options& options, const char* kind,
           const std::filesystem::path& directory, const Resources& resources,
           const base::Progress& progress) {
  store.resources = resources;
  write_source(std::move(source), store, {std::string("generate ") + kind, "", option_texts(options)},
               directory, progress);
}

}  // namespace gnomon::graph::drawn
