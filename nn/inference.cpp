#include "nn/inference.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "kernels/cpu/gather.h"
#include "kernels/cpu/sample/sampler.h"
#include "kernels/headroom.h"

namespace gnomon::nn {
namespace {

void notify(const InferenceOptions& options) {
  if (options.between_chunks) {
    options.between_chunks();
  }
}

/// Calls act(inputs) with a layer's inputs for vertices [begin, begin + count) on the device: the features,
/// dense or sparse, if `values` is undefined (first layer). Returns its result.
template <class Act>
at::Tensor with_inputs(const graph::Graph& graph, const at::Tensor& values, std::int64_t begin,
                       std::int64_t count, at::Device device, const Act& act) {
  const auto& features = graph.features;
  if (values.defined()) {
    return act(values.narrow(0, begin, count).to(device));
  }
  if (features.is_sparse()) {
    return act(dropped(on_device(sparse_rows(features, begin, count), device), {}));
  }
  return act(
      feature_tensor(features.row(begin), features.type, count, features.columns).to(at::kFloat).to(device));
}

/// Bytes of a vertex's inputs of a layer, on average.
std::int64_t input_bytes(const graph::Graph& graph, const at::Tensor& values) {
  const auto& features = graph.features;
  if (!values.defined() && features.is_sparse()) {
    constexpr std::int64_t min_bytes = 256;  // outputs may be larger than sparse rows
    return std::max(min_bytes, features.bytes() / std::max<std::int64_t>(1, features.rows));
  }
  return 4 * std::max<std::int64_t>(1, values.defined() ? values.size(1) : features.columns);
}

/// Computes Layer::project for all vertices, chunk by chunk.
at::Tensor project_all(const graph::Graph& graph, const Layer& layer, at::Device device,
                       const at::Tensor& values, const InferenceOptions& options) {
  const auto vertices = graph.num_vertices();
  const auto chunk = std::max<std::int64_t>(1, options.chunk_bytes / input_bytes(graph, values));
  at::Tensor projected;
  for (std::int64_t begin = 0; begin < vertices; begin += chunk) {
    const auto count = std::min(chunk, vertices - begin);
    const auto part = with_inputs(graph, values, begin, count, device,
                                  [&](const auto& inputs) { return layer.project(inputs); });
    if (!projected.defined()) {
      projected = at::empty({vertices, part.size(1)}, at::kFloat);
    }
    projected.narrow(0, begin, count).copy_(part);
    notify(options);
  }
  return projected;
}

/// Returns the end of the chunk that begins at `begin`: as many vertices as together have at most `rows`
/// sources, but at least one vertex.
std::int64_t chunk_end(const graph::Graph& graph, std::int64_t begin, std::int64_t rows) {
  auto end = begin + 1;
  auto sources = 1 + graph.degree(begin);
  while (end < graph.num_vertices() && sources + 1 + graph.degree(end) <= rows) {
    sources += 1 + graph.degree(end++);
  }
  return end;
}

/// Computes Layer::propagate and Model::finish of layer `index` for all vertices, chunk by chunk. `values`
/// are the layer's inputs, which only skip connections read.
at::Tensor propagate_all(const graph::Graph& graph, const Model& model, std::size_t index,
                         const at::Tensor& values, const at::Tensor& projected,
                         const InferenceOptions& options) {
  const auto device = model.device();
  kernels::cpu::Sampler sampler(graph, {-1});
  kernels::MiniBatch batch;
  std::vector<float> degrees;
  std::vector<graph::VertexId> seeds;
  at::Tensor out;
  const auto rows = std::max<std::int64_t>(1, options.chunk_bytes / (4 * projected.size(1)));
  for (std::int64_t begin = 0; begin < graph.num_vertices();) {
    const auto end = chunk_end(graph, begin, rows);
    seeds.resize(static_cast<std::size_t>(end - begin));
    std::iota(seeds.begin(), seeds.end(), begin);
    sampler.sample({}, seeds, batch);
    kernels::resize_with_headroom(degrees, batch.vertices.size());
    kernels::cpu::gather_degrees(graph, batch.vertices, degrees.data());
    const auto rows_of_batch = std::ssize(batch.vertices);
    const auto sources = at::from_blob(batch.vertices.data(), {rows_of_batch}, at::kLong);
    const Hop hop{on_device(*view_of(batch.blocks.front()), device),
                  at::from_blob(degrees.data(), {rows_of_batch}, at::kFloat).to(device)};
    const auto propagated =
        model.layer(index).propagate(projected.index_select(0, sources).to(device), hop, nullptr);
    const auto finish = [&](const auto& inputs) { return model.finish(index, propagated, inputs); };
    const auto part = model.has_skip() ? with_inputs(graph, values, begin, end - begin, device, finish)
                                       : finish(at::Tensor());
    if (!out.defined()) {
      out = at::empty({graph.num_vertices(), part.size(1)}, at::kFloat);
    }
    out.narrow(0, begin, end - begin).copy_(part);
    begin = end;
    notify(options);
  }
  return out;
}

}  // namespace

at::Tensor infer(const graph::Graph& graph, const Model& model, const InferenceOptions& options) {
  const at::NoGradGuard no_grad;
  at::Tensor values;
  for (std::size_t i = 0; i < model.num_layers(); ++i) {
    const auto projected = project_all(graph, model.layer(i), model.device(), values, options);
    if (options.embeddings != nullptr && i + 1 == model.num_layers()) {
      *options.embeddings = values;
    }
    if (!model.has_skip()) {
      values = at::Tensor();  // its memory is reused for the outputs
    }
    values = propagate_all(graph, model, i, values, projected, options);
  }
  return values;
}

Score score(const at::Tensor& logits, std::span<const std::int32_t> labels,
            std::span<const graph::VertexId> vertices) {
  const auto predicted = logits.argmax(1);
  const auto log_sums = logits.logsumexp(1);
  const auto values = logits.accessor<float, 2>();
  const auto* classes = predicted.const_data_ptr<std::int64_t>();
  const auto* log_sum = log_sums.const_data_ptr<float>();
  std::int64_t counted = 0;
  std::int64_t correct = 0;
  double loss = 0;
  for (const auto vertex : vertices) {
    const auto label = labels[static_cast<std::size_t>(vertex)];
    if (label >= 0) {
      ++counted;
      correct += classes[vertex] == label ? 1 : 0;
      loss += log_sum[vertex] - values[vertex][label];
    }
  }
  if (counted == 0) {
    return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  }
  return {static_cast<double>(correct) / static_cast<double>(counted), loss / static_cast<double>(counted)};
}

}  // namespace gnomon::nn
