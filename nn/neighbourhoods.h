#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "graph/graph.h"
#include "kernels/block.h"
#include "nn/models.h"

namespace gnomon::kernels::cpu {
class Sampler;
}

namespace gnomon::nn {

/// All in-edges of some vertices, for evaluation.
struct Neighbourhood {
  Hop hop;
  at::Tensor sources;  ///< int64 on the CPU, the vertices of the hop's sources; undefined: all vertices
};

/// Computes neighbourhoods of a graph one at a time. On the CPU they refer to the values of all vertices in
/// place; for another device the sources' rows are gathered and copied (rows_of).
class Neighbourhoods {
 public:
  /// Computes degrees only if asked to. Throws base::InputError if the graph has 2^31 vertices or more, whose
  /// ids blocks cannot hold.
  Neighbourhoods(const graph::Graph& graph, at::Device device, bool with_degrees);
  ~Neighbourhoods();
  Neighbourhoods(const Neighbourhoods&) = delete;
  Neighbourhoods& operator=(const Neighbourhoods&) = delete;

  /// Whether hops have all vertices as sources.
  bool have_all_sources() const { return sampler_ == nullptr; }
  /// The in-edges of these vertices (int64, on the CPU), whose memory must outlive it, as must the next call.
  Neighbourhood of(const at::Tensor& vertices);

 private:
  Neighbourhood of_all_sources(const at::Tensor& vertices) const;
  Neighbourhood of_local_sources(const at::Tensor& vertices);

  const graph::Graph& graph_;
  at::Device device_;
  at::Tensor degrees_;                              ///< of all vertices, if asked for
  at::Tensor inverse_roots_;                        ///< of them
  std::unique_ptr<kernels::cpu::Sampler> sampler_;  ///< takes all neighbours; none on the CPU
  kernels::MiniBatch batch_;
};

/// The rows of a neighbourhood's sources, on its device, of values of all vertices (vertices, any).
Projection rows_of(const Neighbourhood& neighbourhood, const Projection& values);

/// The vertices (int64, ascending) whose inputs are needed to compute a layer for `vertices`: these and their
/// in-neighbours.
at::Tensor with_neighbours(const graph::Graph& graph, const at::Tensor& vertices);

}  // namespace gnomon::nn
