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

/// Gives the source the labels of an array: (n) or (n × 1) of classes, as integers or as floats that are
/// integral, -1 or NaN for unknown; or (n × classes) of 0 and 1 for a multi-label graph (LabelSetCollector).
void add_labels(GraphSource& source, NpyStream stream);

/// Assigns the weights of an array to the source's edges, one per edge in the same order.
void add_weights(GraphSource& source, const OpenArray& open);

/// Reads the .npy files of the options into the source, whose num_vertices must be settled. Throws InputError
/// if the source has such an array of its own.
void add_given_arrays(GraphSource& source, const ImportOptions& options);

}  // namespace gnomon::graph
