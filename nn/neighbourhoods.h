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

/// The in-edges of consecutive vertices, for evaluation with all neighbours.
struct Neighbourhood {
  Hop hop;
  at::Tensor sources;  ///< int64 on the CPU, the vertices of the hop's sources; undefined: all vertices
};

/// Makes neighbourhoods of a graph one after the other. On the CPU they read values of all vertices where
/// they lie; for another device the sources' rows are to be gathered and copied, see rows_of().
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
  /// The in-edges of vertices [begin, end). It may share memory with the one before.
  Neighbourhood of(std::int64_t begin, std::int64_t end);
  /// The end of a range that begins at `begin`, of at least one vertex: as many as together take at most
  /// `bytes`, where a vertex takes `vertex_bytes` and each of its in-edges `edge_bytes`.
  std::int64_t range_end(std::int64_t begin, std::int64_t bytes, std::int64_t vertex_bytes,
                         std::int64_t edge_bytes) const;

 private:
  Neighbourhood of_all_sources(std::int64_t begin, std::int64_t end) const;
  Neighbourhood of_local_sources(std::int64_t begin, std::int64_t end);

  const graph::Graph& graph_;
  at::Device device_;
  at::Tensor degrees_;                              ///< of all vertices, if asked for
  at::Tensor inverse_roots_;                        ///< of them
  std::unique_ptr<kernels::cpu::Sampler> sampler_;  ///< takes all neighbours; none on the CPU
  kernels::MiniBatch batch_;
};

/// The rows of a neighbourhood's sources, on its device, of values of all vertices (vertices, any).
Projection rows_of(const Neighbourhood& neighbourhood, const Projection& values);

}  // namespace gnomon::nn
