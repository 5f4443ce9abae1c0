#pragma once

#include <cstdint>
#include <limits>

#include "kernels/device/executor.h"
#include "kernels/device/sparse_rows-inl.h"

// Also compiled by nvcc as C++17.

/// Reductions over the entries of a sparse matrix's rows. One index computes a few columns of one row, so
/// that the reads of a warp are coalesced. A long row is distributed over several indices: entries are split
/// into chunks at multiples of chunk_entries, whose partial results are combined in order. The order of all
/// additions is a pure function of the matrix.
namespace gnomon::kernels::device::passes {

/// The entries that one index reduces in fp32. The partial results of chunks are combined in fp64.
inline constexpr std::int64_t chunk_entries = 256;

/// Consecutive numbers that are loaded and stored together.
template <int size>
struct alignas(size * sizeof(float)) Pack {
  float value[size];
};

template <int size>
constexpr Pack<size> load_pack(const float* from) {
  return *reinterpret_cast<const Pack<size>*>(from);
}

struct Sum {
  static constexpr float nothing = 0;
  template <class T>
  static constexpr T of(T a, T b) {
    return a + b;
  }
};

struct Max {
  static constexpr float nothing = -std::numeric_limits<float>::infinity();
  template <class T>
  static constexpr T of(T a, T b) {
    return a > b ? a : b;
  }
};

/// Reduces a row's addends for the entries first … last-1, from column `column` on.
template <class Reduction, int size, class Addends>
constexpr Pack<size> reduce(const Addends& addends, std::int64_t row, std::int64_t column, std::int64_t first,
                            std::int64_t last) {
  Pack<size> total{};
  for (int i = 0; i < size; ++i) {
    total.value[i] = Reduction::nothing;
  }
  for (std::int64_t entry = first; entry < last; ++entry) {
    const Pack<size> next = addends(row, column, entry);
    for (int i = 0; i < size; ++i) {
      total.value[i] = Reduction::of(total.value[i], next.value[i]);
    }
  }
  return total;
}

constexpr bool is_long(const SparseRows& rows, std::int64_t row) {
  return rows.indptr[row + 1] - rows.indptr[row] > chunk_entries;
}

/// Computes the partial results of chunk k for long rows: parts[2k] for the row of its first entry, and
/// parts[2k + 1] for a long row that begins within the chunk. There is at most one such row, because it
/// extends beyond the chunk.
template <class Reduction, int size, class Addends>
struct ReduceChunk {
  static constexpr int min_blocks = min_blocks_without_spills;
  SparseRows rows;
  Addends addends;
  std::int64_t packs;  ///< per row
  Pack<size>* parts;

  constexpr void operator()(std::int64_t index) const {
    const MatrixIndex at = matrix_index(index, packs);
    const std::int64_t begin = at.row * chunk_entries;
    const std::int64_t all = rows.indptr[rows.num_rows];
    const std::int64_t end = begin + chunk_entries < all ? begin + chunk_entries : all;
    if (begin >= end) {
      return;
    }
    const std::int64_t first_row = row_with(rows, begin);
    if (is_long(rows, first_row)) {
      const std::int64_t row_end = rows.indptr[first_row + 1];
      parts[2 * at.row * packs + at.column] =
          reduce<Reduction, size>(addends, first_row, at.column * size, begin, row_end < end ? row_end : end);
    }
    const std::int64_t last_row = row_with(rows, end - 1);
    if (last_row != first_row && is_long(rows, last_row)) {
      parts[(2 * at.row + 1) * packs + at.column] =
          reduce<Reduction, size>(addends, last_row, at.column * size, rows.indptr[last_row], end);
    }
  }
};

template <int size>
constexpr Pack<size> scaled(Pack<size> pack, float scale) {
  for (int i = 0; i < size; ++i) {
    pack.value[i] *= scale;
  }
  return pack;
}

/// Gives result(index, at, entries, total) the reduction of each row's addends, pack by pack: `at` is the row
/// and the pack, `index` the number of the pack over all rows, `entries` those of the row.
template <class Reduction, int size, class Addends, class Result>
struct ReduceRow {
  static constexpr int min_blocks = size == 1 ? min_blocks_without_spills : 0;
  SparseRows rows;
  Addends addends;
  std::int64_t packs;
  const Pack<size>* parts;
  Result result;

  constexpr void operator()(std::int64_t index) const {
    const MatrixIndex at = matrix_index(index, packs);
    const std::int64_t first = rows.indptr[at.row];
    const std::int64_t last = rows.indptr[at.row + 1];
    const Pack<size> total = last - first > chunk_entries
                                 ? of_chunks(first, last, at.column)
                                 : reduce<Reduction, size>(addends, at.row, at.column * size, first, last);
    result(index, at, last - first, total);
  }

 private:
  constexpr Pack<size> of_chunks(std::int64_t first, std::int64_t last, std::int64_t column) const {
    double total[size] = {};
    for (int i = 0; i < size; ++i) {
      total[i] = Reduction::nothing;
    }
    for (std::int64_t chunk = first / chunk_entries; chunk * chunk_entries < last; ++chunk) {
      const std::int64_t begins_here = chunk * chunk_entries < first ? 1 : 0;
      const Pack<size> part = parts[(2 * chunk + begins_here) * packs + column];
      for (int i = 0; i < size; ++i) {
        total[i] = Reduction::of(total[i], static_cast<double>(part.value[i]));
      }
    }
    Pack<size> rounded{};
    for (int i = 0; i < size; ++i) {
      rounded.value[i] = static_cast<float>(total[i]);
    }
    return rounded;
  }
};

/// Gives result (see ReduceRow) the reduction of addends(row, column, entry) over the row's entries, for
/// every column; `width` columns are a multiple of `size`, which addends gives at once.
template <class Reduction, int size, class Executor, class Addends, class Result>
void reduce_rows_to(Executor& executor, const SparseRows& rows, const Addends& addends, std::int64_t width,
                    const Result& result) {
  const std::int64_t packs = width / size;
  Array<Pack<size>> parts;
  if (rows.num_entries > chunk_entries && rows.max_row_entries > chunk_entries) {
    const std::int64_t chunks = (rows.num_entries + chunk_entries - 1) / chunk_entries;
    parts = make_array<Pack<size>>(executor, 2 * chunks * packs);
    executor.for_each(chunks * packs,
                      ReduceChunk<Reduction, size, Addends>{rows, addends, packs, parts.data});
  }
  executor.for_each(rows.num_rows * packs,
                    ReduceRow<Reduction, size, Addends, Result>{rows, addends, packs, parts.data, result});
}

/// out[row, :] = factors[row] · total.
template <int size>
struct ScaledRows {
  const float* factors;  ///< null: ones
  Pack<size>* out;

  constexpr void operator()(std::int64_t index, const MatrixIndex& at, std::int64_t,
                            const Pack<size>& total) const {
    out[index] = scaled(total, factors == nullptr ? 1 : factors[at.row]);
  }
};

template <class Reduction, int size, class Executor, class Addends>
void reduce_rows(Executor& executor, const SparseRows& rows, const Addends& addends, std::int64_t width,
                 const float* row_scale, float* out) {
  reduce_rows_to<Reduction, size>(executor, rows, addends, width,
                                  ScaledRows<size>{row_scale, reinterpret_cast<Pack<size>*>(out)});
}

/// out[row, :] = own(row, :) followed by total / (number of the row's entries).
template <int size, class Own>
struct OwnBesideMean {
  Own own;
  std::int64_t packs;
  Pack<size>* out;

  constexpr void operator()(std::int64_t index, const MatrixIndex& at, std::int64_t entries,
                            const Pack<size>& total) const {
    Pack<size>* to = out + index + at.row * packs;
    to[packs] = scaled(total, inverse_degree(entries));
    *to = own(at.row, at.column * size);
  }
};

/// own(row, column) is `size` values of row `row`, the addends are of `width` columns, and `out` has rows of
/// twice as many.
template <int size, class Executor, class Addends, class Own>
void own_beside_mean(Executor& executor, const SparseRows& rows, const Addends& addends, const Own& own,
                     std::int64_t width, float* out) {
  reduce_rows_to<Sum, size>(executor, rows, addends, width,
                            OwnBesideMean<size, Own>{own, width / size, reinterpret_cast<Pack<size>*>(out)});
}

}  // namespace gnomon::kernels::device::passes
