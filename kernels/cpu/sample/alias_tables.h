#pragma once

#include <cstdint>
#include <span>

#include "kernels/cpu/huge_array.h"
#include "kernels/weighted_rule.h"

namespace gnomon::kernels::cpu {

/// The alias tables (kernels/weighted_rule.h) of all neighbour lists of a graph.
struct AliasTables {
  HugeArray<AliasColumn> columns;  ///< one per edge
  HugeArray<std::uint32_t>
      positives;  ///< each vertex's number of positive weights; empty if all are positive
};

/// Builds the tables on `threads` threads, each for whole lists. The weights (finite, non-negative, one per
/// edge) are rounded to integer parts of 2^-32 / degree each, at least one for every positive weight.
/// Everything else is integer arithmetic, so each table is a pure function of its list's weights on every
/// machine. An edge whose share of its list's weight is p is drawn with a probability within 2^-31 p + 2^-31
/// / degree + 2^-48 of p, and with a positive one if p > 0. Throws base::InputError for a list of 2^32 edges
/// or more and for invalid weights, and base::Failure if there is not enough memory.
AliasTables make_alias_tables(std::span<const std::int64_t> indptr, std::span<const float> weights,
                              int threads);

/// Returns an upper bound of the tables' memory in bytes.
std::int64_t alias_table_bytes(std::int64_t vertices, std::int64_t edges);

}  // namespace gnomon::kernels::cpu
