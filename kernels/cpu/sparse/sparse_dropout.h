#pragma once

#include <cstddef>
#include <cstdint>

#include "graph/graph.h"
#include "kernels/cpu/sparse/sparse_rows.h"
#include "kernels/dropout_rule.h"

/// Dropout of a matrix in CSR form with `num_columns` columns, of which the element in row r and column c has
/// the index r · num_columns + c. Dropped entries are left out. Each call handles the rows in `range` and
/// writes nothing else, so that disjoint ranges may run concurrently.
namespace gnomon::kernels::cpu {

/// Writes 1 to kept[e] if entry e is kept and 0 otherwise, and the number of kept entries of row r to
/// counts[r].
void kept_entries(const DropoutRule& rule, const SparseRows& a, RowRange range, std::int64_t num_columns,
                  std::uint8_t* kept, std::int64_t* counts);

/// Values of entries in a feature type; all are 1 if `data` is null.
struct EntryValues {
  const std::byte* data = nullptr;
  graph::FeatureType type = graph::FeatureType::fp32;
};

/// Copies the kept entries of the rows to those of another CSR matrix: columns unchanged, values multiplied
/// by `scale` in fp32. `indptr` are the row pointers of the kept entries.
void copy_kept(const SparseRows& a, RowRange range, const EntryValues& values, float scale,
               const std::uint8_t* kept, const std::int64_t* indptr, std::int32_t* to_columns,
               float* to_values);

}  // namespace gnomon::kernels::cpu
