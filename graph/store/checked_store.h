#pragma once

#include "graph/graph.h"

namespace gnomon::graph {

/// Like validate(), but reads the data of a store only once: afterwards checked.json in the store holds the
/// size, the modification time and the checksums of each file. As long as sizes and times match, the contents
/// are not read again. Where only times differ, as in a copy of the store, the checksums decide. Files that
/// changed within the last second are not marked, nor are stores that cannot be written.
void validate_once(const Graph& graph, bool for_training);

/// validate(), and compares a store that was marked with its checksums: throws InputError naming the file and
/// the block if the contents changed but the time did not, as after a disk error. Marks the store as
/// validate_once() does.
void verify(const Graph& graph, bool for_training);

}  // namespace gnomon::graph
