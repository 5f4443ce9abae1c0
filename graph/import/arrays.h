#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "graph/import/import.h"
#include "graph/import/source.h"
#include "graph/store/npy_stream.h"

/// Helpers shared by the importers: build parts of a source from NumPy arrays.
namespace gnomon::graph {

/// Reopens an array at its beginning.
using OpenArray = std::function<NpyStream()>;

/// Returns the edges of an array of shape n×2 or 2×n; `square` resolves the ambiguity of a 2×2 array.
enum class Square : std::uint8_t { pairs, two_rows };
EdgeStream edges_of(const OpenArray& open, Square square);

/// Gives the source the rows of a dense array (n × columns) as features.
void add_features(GraphSource& source, const OpenArray& open);

/// Reads labels from an array (n) or (n × 1) of integers, or of floats that are integral or NaN (unknown).
std::vector<std::int32_t> labels_of(NpyStream stream, std::int64_t num_vertices);

/// Assigns the weights of an array to the source's edges, one per edge in the same order.
void add_weights(GraphSource& source, const OpenArray& open);

/// Reads the .npy files of the options into the source, whose num_vertices must be settled. Throws InputError
/// if the source has such an array of its own.
void add_given_arrays(GraphSource& source, const ImportOptions& options);

}  // namespace gnomon::graph
