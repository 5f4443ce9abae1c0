#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "graph/resources.h"
#include "graph/store/edges.h"

namespace gnomon::graph {

/// The output buffers of build_csc: either `indices` or `narrow_indices` is set, the latter only for graphs
/// of at most max_narrow_vertices vertices; `weights` is null for unweighted graphs.
struct EdgeBuffers {
  VertexId* indices = nullptr;
  float* weights = nullptr;
  std::uint32_t* narrow_indices = nullptr;
};
/// Returns buffers for `count` edges that stay valid until build_csc returns.
using AllocateEdges = std::function<EdgeBuffers(std::int64_t count)>;

/// The graph to build.
struct CscRequest {
  std::int64_t num_vertices = 0;
  EdgeOptions options{};
  bool weighted = false;
  std::string where;  ///< that errors name
  Resources resources{};
};

/// Builds the CSC form of a stream of edges. Returns indptr (num_vertices + 1); the first indptr.back()
/// elements of the allocated buffers are the indices, ascending in each row, and their weights. The stream is
/// read once: its edges are collected in buckets by ranges of destinations, 8 to 16 bytes each, on disk
/// beyond resources.memory_bytes; then one bucket after another is sorted by a thread. The buffers, which
/// hold every edge before duplicates are removed, are written in sequence. The result does not depend on the
/// resources. Throws InputError, naming `where`, for an id outside [0, num_vertices), for a weight that is
/// negative or not finite, and for a sum of weights beyond the range of fp32; Failure if intermediate data
/// cannot be written.
std::vector<std::int64_t> build_csc(const CscRequest& request, const EdgeStream& edges,
                                    const AllocateEdges& allocate, const base::Progress& progress = {});

}  // namespace gnomon::graph
