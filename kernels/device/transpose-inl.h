#pragma once

#include <cstdint>

#include "kernels/device/sparse.h"
#include "kernels/device/sparse_rows-inl.h"

// The transposes of blocks. Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {
namespace passes {

/// Writes the sort keys of the transpose: entries are grouped by source, with padding at the end.
struct KeyOfEntry {
  const std::int32_t* columns;
  const std::int32_t* row_of_entry;
  std::int32_t num_sources;
  std::int32_t* keys;
  std::int32_t* numbers;
  constexpr void operator()(std::int64_t entry) const {
    keys[entry] = row_of_entry[entry] < 0 ? num_sources : columns[entry];
    numbers[entry] = static_cast<std::int32_t>(entry);
  }
};

/// Finds the first of a source's entries: the lower bound of the source among the sorted keys.
struct BeginOfSource {
  const std::int32_t* sorted_keys;
  std::int64_t count;
  std::int64_t* indptr;
  constexpr void operator()(std::int64_t source) const {
    std::int64_t first = 0;
    std::int64_t last = count;
    while (first < last) {
      const std::int64_t middle = first + (last - first) / 2;
      if (sorted_keys[middle] < source) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    indptr[source] = first;
  }
};

struct RowOfEdge {
  const std::int32_t* edges;
  const std::int32_t* row_of_entry;
  std::int32_t* destinations;
  constexpr void operator()(std::int64_t entry) const { destinations[entry] = row_of_entry[edges[entry]]; }
};

/// Blocks side by side: entries, with padding, sources and rows are numbered through them. A block has one
/// source more, without entries, so that it has as many as row pointers, and one row more if its self-loops
/// are counted; otherwise it has none here.
struct SideBySide {
  static constexpr int max_blocks = 8;
  struct At {
    int block;
    std::int64_t begin;  ///< of the block's entries or sources
  };
  int count;
  SparseRows rows[max_blocks];
  Transposed transposed[max_blocks];
  std::int64_t* loops[max_blocks];
  std::int64_t entries_before[max_blocks + 1];
  std::int64_t sources_before[max_blocks + 1];
  std::int64_t rows_before[max_blocks + 1];

  constexpr std::int64_t entries() const { return entries_before[count]; }
  constexpr std::int64_t sources() const { return sources_before[count]; }
  constexpr std::int64_t counted_rows() const { return rows_before[count]; }
  /// As many as there are entries, sources or rows, whichever are most.
  constexpr std::int64_t indices() const {
    const std::int64_t more = entries() > sources() ? entries() : sources();
    return more > counted_rows() ? more : counted_rows();
  }
  constexpr At of_entry(std::int64_t entry) const { return find(entries_before, entry); }
  constexpr At of_source(std::int64_t source) const { return find(sources_before, source); }
  constexpr At of_row(std::int64_t row) const { return find(rows_before, row); }
  /// The number of an entry's source; -1 for padding. `at` is that of the entry.
  constexpr std::int64_t source_of(const At& at, std::int64_t entry) const {
    const SparseRows& own = rows[at.block];
    const bool is_padding = entry - at.begin >= own.indptr[own.num_rows];
    return is_padding ? -1 : sources_before[at.block] + own.columns[entry - at.begin];
  }

 private:
  constexpr At find(const std::int64_t* before, std::int64_t i) const {
    int block = 0;
    while (block + 1 < count && before[block + 1] <= i) {
      ++block;
    }
    return {block, before[block]};
  }
};

/// Counts each source's entries and, behind these numbers, writes 1 for each row without a self-loop. Index i
/// is entry i and row i.
template <class Atomics>
struct CountEntries {
  SideBySide blocks;
  std::int64_t* counts;
  constexpr void operator()(std::int64_t i) const {
    if (i < blocks.entries()) {
      const std::int64_t source = blocks.source_of(blocks.of_entry(i), i);
      if (source >= 0) {
        Atomics::add(counts + source, std::int64_t{1});
      }
    }
    if (i < blocks.counted_rows()) {
      const auto at = blocks.of_row(i);
      counts[blocks.sources() + i] = lacks_loop(blocks.rows[at.block], i - at.begin);
    }
  }
};

struct ReadCount {
  const std::int64_t* counts;
  constexpr std::int64_t operator()(std::int64_t source) const { return counts[source]; }
};

/// Writes the start of each source's entries to two arrays. One of them, which may alias the counts, is then
/// used as running positions.
struct WriteBegins {
  std::int64_t* begins;
  std::int64_t* ends;
  constexpr void operator()(std::int64_t source, std::int64_t entries_before) const {
    begins[source] = ends[source] = entries_before;
  }
};

/// Writes each entry to a position among those of its source, in a nondeterministic order.
template <class Atomics>
struct PlaceEntry {
  SideBySide blocks;
  std::int64_t* ends;  ///< of the entries written so far, by source
  std::int32_t* placed;
  constexpr void operator()(std::int64_t entry) const {
    const auto at = blocks.of_entry(entry);
    const std::int64_t source = blocks.source_of(at, entry);
    if (source >= 0) {
      placed[Atomics::add(ends + source, std::int64_t{1})] = static_cast<std::int32_t>(entry - at.begin);
    }
  }
};

/// Moves each entry to its position in the block's order: its rank among the entries of its source. Index i
/// is entry i, source i and row i.
struct OrderEntries {
  SideBySide blocks;
  const std::int64_t* begins;  ///< of the sources' entries
  const std::int32_t* placed;
  constexpr void operator()(std::int64_t i) const {
    if (i < blocks.entries()) {
      order(i);
    }
    if (i < blocks.sources()) {
      const auto [block, begin] = blocks.of_source(i);
      blocks.transposed[block].indptr[i - begin] = begins[i] - begin_of(block);
    }
    if (i < blocks.counted_rows()) {
      const auto [block, begin] = blocks.of_row(i);
      const std::int64_t* before = begins + blocks.sources();
      blocks.loops[block][i - begin] = before[i] - before[begin];
    }
  }

 private:
  /// Of the entries of a block.
  constexpr std::int64_t begin_of(int block) const { return begins[blocks.sources_before[block]]; }
  constexpr void order(std::int64_t numbered) const {
    const auto at = blocks.of_entry(numbered);
    const std::int64_t source = blocks.source_of(at, numbered);
    if (source < 0) {
      return;
    }
    const auto entry = static_cast<std::int32_t>(numbered - at.begin);
    std::int64_t to = begins[source] - begin_of(at.block);
    for (std::int64_t other = begins[source]; other < begins[source + 1]; ++other) {
      to += placed[other] < entry ? 1 : 0;
    }
    const Transposed& transposed = blocks.transposed[at.block];
    transposed.edges[to] = entry;
    transposed.destinations[to] = static_cast<std::int32_t>(row_with(blocks.rows[at.block], entry));
  }
};

}  // namespace passes

template <class Executor>
void transpose(Executor& executor, const SparseRows& a, const std::int32_t* row_of_entry,
               std::int64_t num_sources, const Transposed& transposed) {
  const std::int64_t count = a.num_entries;
  const auto keys = make_array<std::int32_t>(executor, 3 * count);
  std::int32_t* numbers = keys.data + count;
  std::int32_t* sorted_keys = numbers + count;
  const auto max_key = static_cast<std::int32_t>(num_sources);
  executor.for_each(count, passes::KeyOfEntry{a.columns, row_of_entry, max_key, keys.data, numbers});
  sort_by_key(executor, max_key, count, keys.data, sorted_keys, numbers, transposed.edges);
  executor.for_each(count, passes::RowOfEdge{transposed.edges, row_of_entry, transposed.destinations});
  executor.for_each(num_sources + 1, passes::BeginOfSource{sorted_keys, count, transposed.indptr});
}

template <class Executor>
void transpose_together(Executor& executor, const BlockToTranspose* blocks, int count) {
  using Atomics = typename Executor::Atomics;
  passes::SideBySide all{};
  all.count = count;
  for (int i = 0; i < count; ++i) {
    all.rows[i] = blocks[i].rows;
    all.transposed[i] = blocks[i].transposed;
    all.entries_before[i + 1] = all.entries_before[i] + blocks[i].rows.num_entries;
    all.sources_before[i + 1] = all.sources_before[i] + blocks[i].num_sources + 1;
    all.loops[i] = blocks[i].loops;
    all.rows_before[i + 1] = all.rows_before[i] + (all.loops[i] == nullptr ? 0 : blocks[i].rows.num_rows + 1);
  }
  const std::int64_t counted = all.sources() + all.counted_rows();
  const auto begins = make_array<std::int64_t>(executor, 2 * counted);
  std::int64_t* counts = begins.data + counted;
  const auto placed = make_array<std::int32_t>(executor, all.entries());
  executor.fill(counts, 0, static_cast<std::size_t>(all.sources()) * sizeof(std::int64_t));
  executor.for_each(all.indices(), passes::CountEntries<Atomics>{all, counts});
  executor.scan(counted, passes::ReadCount{counts}, passes::WriteBegins{begins.data, counts});
  executor.for_each(all.entries(), passes::PlaceEntry<Atomics>{all, counts, placed.data});
  executor.for_each(all.indices(), passes::OrderEntries{all, begins.data, placed.data});
}

}  // namespace gnomon::kernels::device
