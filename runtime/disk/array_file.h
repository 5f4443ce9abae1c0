#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "graph/graph.h"
#include "runtime/disk/direct_file.h"

namespace gnomon::runtime {

/// An array of a graph store, for direct I/O.
struct ArrayFile {
  std::shared_ptr<const DirectFile> file;
  std::uint64_t first_byte = 0;  ///< of the elements
};

/// Opens a file of the store that the graph was opened from. Throws base::InputError if the graph is not from
/// a store, or if the file is not a .npy file of `bytes` bytes of elements.
ArrayFile open_array(const graph::Graph& graph, const std::string& name, std::uint64_t bytes);

}  // namespace gnomon::runtime
