#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "graph/graph.h"
#include "nn/models.h"

namespace gnomon::nn {

/// Computes hops of all in-edges of some vertices, for evaluation. Their sources are all vertices of the
/// graph, whose values are read in place.
class Neighbourhoods {
 public:
  /// Computes degrees only if asked to, on the device. Throws base::InputError if the graph has 2^31 vertices
  /// or more, whose ids blocks cannot hold.
  Neighbourhoods(const graph::Graph& graph, at::Device device, bool with_degrees);

  /// The in-edges of these vertices (int64, on the CPU), on the device. Thread-safe.
  Hop of(const at::Tensor& vertices) const;

 private:
  const graph::Graph& graph_;
  at::Device device_;
  at::Tensor degrees_;        ///< of all vertices, if asked for
  at::Tensor inverse_roots_;  ///< of them
};

/// The vertices (int64, ascending) whose inputs are needed to compute a layer for `vertices`: these and their
/// in-neighbours.
at::Tensor with_neighbours(const graph::Graph& graph, const at::Tensor& vertices);

}  // namespace gnomon::nn
