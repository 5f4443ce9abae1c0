#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "nn/models.h"
#include "nn/predicted_classes.h"

namespace gnomon::nn {

/// Options of infer().
struct InferenceOptions {
  /// The vertices whose logits are asked for, in the range of the graph's; empty: all. Each layer is computed
  /// only for the vertices that these depend on.
  std::span<const graph::VertexId> vertices{};
  /// Approximate size of a chunk. On the host, chunks are smaller (nn/vertex_chunks.h).
  std::int64_t chunk_bytes = std::int64_t{128} << 20;
  /// Called by the calling thread between chunks and after the last one; may throw to cancel.
  std::function<void()> between_chunks{};
  /// If set, receives the inputs of the last layer (vertices, hidden), fp32 on the CPU: the embeddings. Stays
  /// undefined for a model of one layer, whose inputs are the features. Rows that `vertices` do not need have
  /// no defined values.
  at::Tensor* embeddings = nullptr;
  /// If set, receives the outputs of all hidden layers, in their order, each like `embeddings`; the last
  /// layer is not computed. Layers but attention then aggregate first, even if that is more work, so that
  /// little more memory is needed than for two consecutive outputs.
  std::vector<at::Tensor>* hidden = nullptr;
};

/// Layer-wise inference over the whole graph with all neighbours and without dropout, equal to full-batch
/// evaluation. Returns the logits (vertices that are asked for, classes) on the CPU; undefined if hidden
/// layers are asked for.
///
/// Layers that do not widen their inputs multiply first; these products are computed together with the
/// outputs of the previous layer. All others aggregate first, reading their inputs in place. The memory of
/// the model's device holds the inputs of two consecutive layers (vertices, columns) and the chunks: one per
/// thread on the host, one at a time on other devices. If theirs does not suffice, or the model has
/// attention, the host computes with a copy of the model.
at::Tensor infer(const graph::Graph& graph, const Model& model, const InferenceOptions& options = {});

/// Returns an estimate of infer()'s peak host memory with these options if the host computes: the inputs of
/// two consecutive layers, the chunks, and the ids of the vertices that layers are computed for.
std::int64_t inference_bytes(const graph::Graph& graph, const Model& model,
                             const InferenceOptions& options = {});

/// The rows of these vertices, of values of all vertices.
at::Tensor rows_of_vertices(const at::Tensor& values, std::span<const graph::VertexId> vertices);

/// The class of the largest logit of each row; of a multi-label model those above 0.
PredictedClasses predicted_classes(const at::Tensor& logits, bool is_multilabel);

/// The quality of predictions for some vertices, of which row i of the logits is vertices[i]'s, those with
/// label -1 excluded; NaN if no labelled vertex is left.
struct Score {
  double accuracy = 0;  ///< share of vertices whose largest logit is that of their label
  double loss = 0;      ///< mean cross-entropy
};

/// Of a graph of either kind: score_label_sets() (nn/label_sets.h) if it is multi-label.
Score score(const at::Tensor& logits, const graph::Graph& graph, std::span<const graph::VertexId> vertices);

Score score(const at::Tensor& logits, std::span<const std::int32_t> labels,
            std::span<const graph::VertexId> vertices);

}  // namespace gnomon::nn
