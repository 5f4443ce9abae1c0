#pragma once

#include <ATen/core/Tensor.h>

#include "graph/graph.h"

namespace gnomon::nn {

/// What the logits of a training step are compared with, on its device.
struct StepTargets {
  at::Tensor labels;        ///< (seeds), int64, contiguous: classes, or rows of label_sets
  at::Tensor label_sets{};  ///< (sets, classes), uint8, contiguous; undefined if each vertex has one class
};

/// The label sets of a graph on a device; undefined if it has none. Those on the host are the graph's own,
/// which must outlive them.
at::Tensor label_sets_of(const graph::Graph& graph, at::Device device);

}  // namespace gnomon::nn
