#pragma once

#include <cstdint>
#include <span>

#include "kernels/cpu/huge_array.h"
#include "kernels/weighted_rule.h"

namespace gnomon::kernels::cpu {

/// The alias tables (kernels/weighted_rule.h) of all lists of a graph.
struct AliasTables {
  HugeArray<AliasColumn> columns;      ///< one an edge
  HugeArray<std::uint32_t> positives;  ///< edges of positive weight of each vertex; none where all are
};

/// Makes the tables on so many threads, each for whole lists. The weights (finite, not negative, one an edge)
/// are turned into whole parts of 2^-32 / degree each, of which every positive one has at least one; all else
/// is integers, so each table is a function of its list's weights alone, on every machine. An edge whose
/// share of its list's weight is p has a chance within 2^-31 p + 2^-31 / degree + 2^-48 of it in a draw, and
/// never 0 when its weight is not. Throws base::InputError for a list of 2^32 edges or more and for weights
/// that are no such numbers, and base::Failure when there is not memory enough.
AliasTables make_alias_tables(std::span<const std::int64_t> indptr, std::span<const float> weights,
                              int threads);

/// The memory that they take, at most.
std::int64_t alias_table_bytes(std::int64_t vertices, std::int64_t edges);

}  // namespace gnomon::kernels::cpu
