#pragma once

#include <filesystem>

#include "base/progress.h"
#include "graph/graph.h"
#include "graph/partition/parts.h"
#include "graph/resources.h"
#include "graph/store/store.h"

namespace gnomon::graph {

/// Which hubs a store keeps beside its parts (graph/partition/hubs.h).
struct HubRequest {
  double ratio = 0.05;  ///< share of the vertices
  int steps = 3;        ///< of the random walk that finds them, one for each layer of the model
};

/// Writes a store whose vertices are ordered by part, within a part as they were, so that every part's lists
/// and features are contiguous in their files.
class PartedStoreWriter {
 public:
  /// Throws InputError if the directory exists, and Failure if none can be made there.
  explicit PartedStoreWriter(const std::filesystem::path& directory) : writer_(directory) {}

  /// Reads the edges once for each step that finds hubs, and then writes as write_reordered() does. The
  /// directory appears whole, or not at all. Throws Failure on I/O errors. Precondition: part_of has a part
  /// from 0 to request.parts - 1 for each vertex.
  void commit(const Graph& graph, const PartOf& part_of, const PartitionRequest& request,
              const HubRequest& hubs, const base::Progress& progress = {}, const Resources& resources = {});

 private:
  StoreWriter writer_;
};

}  // namespace gnomon::graph
