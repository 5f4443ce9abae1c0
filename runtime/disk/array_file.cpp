#include "runtime/disk/array_file.h"

#include "base/error.h"
#include "graph/store/npy.h"

namespace gnomon::runtime {

ArrayFile open_array(const graph::Graph& graph, const std::string& name, std::uint64_t bytes) {
  if (graph.directory.empty()) {
    throw base::InputError("graph \"" + graph.name + "\"",
                           "lies in memory; a plan with data on the disk needs a store");
  }
  const auto path = graph.directory / name;
  const auto npy = graph::map_npy(path);  // checks header and size
  if (npy.header.data_bytes() != bytes) {
    throw base::InputError(path.string(), "has " + std::to_string(npy.header.data_bytes()) +
                                              " bytes of elements, not " + std::to_string(bytes) +
                                              "; it was changed after the graph was opened");
  }
  return {std::make_shared<const DirectFile>(path), npy.header.data_offset};
}

}  // namespace gnomon::runtime
