#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>

#include "graph/graph.h"
#include "nn/models.h"

namespace gnomon::nn {

/// Layer-wise inference with all neighbours over the whole graph, as full-batch evaluation would compute it,
/// in chunks of vertices: beside the graph it holds two layers' values of all vertices, in the host's memory,
/// and one chunk.
struct InferenceOptions {
  std::int64_t chunk_bytes = std::int64_t{128} << 20;  ///< about, of a chunk's gathered values
  std::function<void()> between_chunks{};              ///< called often; may throw to end it
};

/// Logits (vertices, classes) without dropout, on the CPU; the model's device computes the chunks.
at::Tensor infer(const graph::Graph& graph, const Model& model, const InferenceOptions& options = {});

/// How well logits tell the labels of some vertices; those with label -1 do not count. NaN when none do.
struct Score {
  double accuracy = 0;  ///< share of vertices whose largest logit is their label
  double loss = 0;      ///< mean cross-entropy
};

Score score(const at::Tensor& logits, std::span<const std::int32_t> labels,
            std::span<const graph::VertexId> vertices);

}  // namespace gnomon::nn
