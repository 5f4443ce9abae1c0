#pragma once

#include <filesystem>

#include "base/atomic_file.h"
#include "graph/graph.h"
#include "graph/partition/partition.h"

/// A partition on disk: a directory of
///
/// partition.json the request, and the graph that was partitioned, with checksums
///     part_of.npy      <i4 (vertices): the part of each vertex of the store
///
namespace gnomon::graph {

struct StoredPartition {
  PartitionRequest request;
  PartOf part_of;
};

/// Writes a partition: the directory appears whole with commit(), or not at all.
class PartitionWriter {
 public:
  /// Throws InputError if the directory exists, and Failure if it cannot be created.
  explicit PartitionWriter(const std::filesystem::path& directory) : directory_(directory) {}

  /// Throws Failure on I/O errors.
  void commit(const Graph& graph, const PartitionRequest& request, const PartOf& part_of);

 private:
  base::AtomicDirectory directory_;
};

/// Reads a partition and checks it: throws InputError, naming the file, what is wrong and what would be
/// right, if a field or an array is not as written, if a part is out of range, or if it divides another
/// graph, by the checksums of the row pointers and of the training vertices.
StoredPartition read_partition(const std::filesystem::path& directory, const Graph& graph);

}  // namespace gnomon::graph
