#pragma once

#include <cstdint>

#include "graph/import/source.h"

namespace gnomon::graph {

/// Adds random features (uniform in [-1, 1)) and random labels (0 … classes - 1) to a source that has none. A
/// count of 0 adds nothing.
void fill_at_random(GraphSource& source, std::int64_t feature_columns, std::int32_t classes,
                    std::uint64_t seed);

}  // namespace gnomon::graph
