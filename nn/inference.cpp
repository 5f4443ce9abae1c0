#include "nn/inference.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "nn/caching_allocator.h"
#include "nn/dense/chunks.h"
#include "nn/label_sets.h"
#include "nn/neighbourhoods.h"
#include "nn/sparse/stored_features.h"
#include "nn/vertex_chunks.h"

namespace gnomon::nn {
namespace {

/// Bytes of an in-edge of a chunk when inputs are read in place: ids and attention.
constexpr std::int64_t chunk_edge_bytes = 64;

at::Tensor ids_of(std::span<const graph::VertexId> vertices) {
  auto* ids = const_cast<graph::VertexId*>(vertices.data());  // from_blob takes a non-const pointer
  return at::from_blob(ids, {std::ssize(vertices)}, at::kLong);
}

at::Tensor dense_rows(const graph::Features& features, const at::Tensor& vertices) {
  const auto stored = stored_features(features, {});
  auto rows = at::empty({vertices.size(0), features.columns}, at::kFloat);
  constexpr std::int64_t rows_per_chunk = 1 << 10;
  for_each_chunk(vertices.size(0), rows_per_chunk, [&](std::int64_t begin, std::int64_t length) {
    auto own = rows.narrow(0, begin, length);
    stored->read_rows(vertices.narrow(0, begin, length), own);
  });
  return rows;
}

/// Calls act(inputs) with a layer's inputs for the chunk's vertices on the device: the features, dense or
/// sparse, if `inputs` is undefined (first layer). Returns its result.
template <class Act>
auto with_inputs(const graph::Features& features, const at::Tensor& inputs, const VertexChunk& chunk,
                 at::Device device, const Act& act) {
  if (inputs.defined()) {
    return act(inputs.index_select(0, chunk.vertices.to(device)));
  }
  if (features.is_sparse()) {
    return act(dropped(on_device(gathered_rows(features, chunk.ids()), device), {}));
  }
  return act(dense_rows(features, chunk.vertices).to(device));
}

/// Bytes of a vertex's features, on average.
std::int64_t feature_bytes(const graph::Features& features) {
  if (features.is_sparse()) {
    constexpr std::int64_t min_bytes = 256;  // outputs may be larger than sparse rows
    return std::max(min_bytes, features.bytes() / std::max<std::int64_t>(1, features.rows));
  }
  return 4 * std::max<std::int64_t>(1, features.columns);
}

/// What layers read: their inputs, or these inputs' products with the weights.
class LayerReads {
 public:
  LayerReads(const graph::Graph& graph, const Model& model, const InferenceOptions& options)
      : graph_(graph), model_(model), options_(options) {}

  bool is_last(std::size_t index) const { return index + 1 == model_.num_layers(); }

  /// Whether layer `index` reads products, which are computed once for all vertices; otherwise it reads its
  /// inputs.
  bool products(std::size_t index) const {
    const bool is_sparse = index == 0 && graph_.features.is_sparse();
    return !is_left_out(index) && (is_sparse || !model_.layer(index).aggregates_first(only_hidden()));
  }
  /// Whether only the hidden layers are computed, of all vertices: products would take more memory than the
  /// layers' outputs.
  bool only_hidden() const { return options_.hidden != nullptr; }
  bool is_left_out(std::size_t index) const { return only_hidden() && is_last(index); }
  /// Whether the layer's inputs are kept.
  bool inputs(std::size_t index) const {
    return !products(index) || model_.has_skip() || (only_hidden() && index > 0) ||
           (options_.embeddings != nullptr && is_last(index));
  }
  /// Whether the first layer reads a copy of the features, on the device.
  bool copies_features() const { return !model_.device().is_cpu() && !products(0); }
  /// Bytes that layer `index` reads per vertex. Features that are read in place count as 0.
  std::int64_t row_bytes(std::size_t index) const {
    const std::int64_t width = index == 0 ? graph_.features.columns : outputs_of(index - 1);
    std::int64_t columns = (index > 0 && inputs(index)) || (index == 0 && copies_features()) ? width : 0;
    if (products(index)) {
      const at::NoGradGuard no_grad;
      for (const auto& part : model_.layer(index).project(one_row(width))) {
        columns += part.size(1);
      }
    }
    return columns * std::int64_t{sizeof(float)};
  }
  std::int64_t outputs_of(std::size_t index) const {
    return model_.layer(index).parameters().back().size(0);  // the bias
  }

 private:
  at::Tensor one_row(std::int64_t columns) const {
    return at::zeros({1, columns}, at::TensorOptions(at::kFloat).device(model_.device()));
  }

  const graph::Graph& graph_;
  const Model& model_;
  const InferenceOptions& options_;
};

/// What a layer reads, on the model's device: a row for each vertex of the graph, set for those that are
/// needed.
struct Values {
  at::Tensor inputs;    ///< undefined: the features in host memory, or not needed
  Projection products;  ///< of layers that do not aggregate first
};

/// An estimate of the memory of the model's device that inference takes.
std::int64_t resident_bytes(const graph::Graph& graph, const Model& model, const InferenceOptions& options) {
  const LayerReads reads(graph, model, options);
  std::int64_t max_row = 0;
  std::int64_t row = reads.row_bytes(0);
  for (std::size_t i = 0; i < model.num_layers(); ++i) {
    const std::int64_t next = reads.is_last(i) ? 0 : reads.row_bytes(i + 1);
    max_row = std::max(max_row, row + next);
    row = next;
  }
  const bool is_all = options.vertices.empty();
  const std::int64_t ids =
      is_all ? 0 : static_cast<std::int64_t>(model.num_layers() * sizeof(graph::VertexId));
  const std::int64_t rows = is_all ? graph.num_vertices() : std::ssize(options.vertices);
  const std::int64_t logits =
      reads.only_hidden() ? 0 : rows * reads.outputs_of(model.num_layers() - 1) * std::int64_t{sizeof(float)};
  const std::int64_t everything = graph.num_vertices() * 3 * max_row + graph.num_edges() * chunk_edge_bytes;
  const std::int64_t chunks =
      model.device().is_cpu()
          ? std::min(options.chunk_bytes, at::get_num_threads() * VertexChunks::max_thread_bytes)
          : options.chunk_bytes;
  return graph.num_vertices() * (max_row + ids) + logits + std::min(chunks, everything);
}

/// Computes the layers on the model's device, whose memory holds what they read.
class Inference {
 public:
  Inference(const graph::Graph& graph, const Model& model, const InferenceOptions& options)
      : graph_(graph),
        model_(model),
        options_(options),
        reads_(graph, model, options),
        needed_(model.num_layers() + 1),
        neighbourhoods_(graph, model.device(), model.reads_degrees()) {
    if (options.vertices.empty()) {
      return;
    }
    needed_.back() = ids_of(options.vertices);
    for (auto i = needed_.size() - 1; i > 0; --i) {
      needed_[i - 1] = with_neighbours(graph, needed_[i]);
    }
  }

  at::Tensor run() {
    reserve();
    Values values;
    for (std::size_t i = 0; i < model_.num_layers(); ++i) {
      values = run_layer(i, std::move(values));
    }
    return reads_.only_hidden() ? at::Tensor() : values.inputs.cpu();
  }

 private:
  /// Throws c10::OutOfMemoryError now if a device's memory does not suffice, rather than after some layers.
  /// LibTorch's allocator keeps the memory for what follows.
  void reserve() const {
    if (!model_.device().is_cpu()) {
      at::empty({resident_bytes(graph_, model_, options_)}, options_of(at::kByte));
    }
  }

  at::TensorOptions options_of(at::ScalarType type) const {
    return at::TensorOptions(type).device(model_.device());
  }

  /// Calls body(chunk) for all chunks of `vertices` (undefined: all): on the CPU, chunks that fit a core's
  /// cache, each on one thread; on other devices, large chunks in sequence.
  void for_chunks(const at::Tensor& vertices, std::int64_t vertex_bytes, std::int64_t edge_bytes,
                  const std::function<void(const VertexChunk&)>& body) const {
    const ChunkLimits limits{options_.chunk_bytes, vertex_bytes, edge_bytes};
    const auto between = [this] {
      if (options_.between_chunks) {
        options_.between_chunks();
      }
    };
    if (model_.device().is_cpu()) {
      VertexChunks::of_one_thread(graph_, vertices, limits).for_each_on_threads(body, between);
    } else {
      VertexChunks(graph_, vertices, limits).for_each(body, between);
    }
  }

  /// The rows of all vertices, or at the end (index == num_layers()) of the requested ones; allocated by the
  /// first chunk.
  at::Tensor rows_for(std::size_t index, std::int64_t columns, at::Tensor& all) const {
    const std::lock_guard lock(making_rows_);
    if (!all.defined()) {
      const auto& needed = needed_[index];
      const bool is_chosen = index == model_.num_layers() && needed.defined();
      all = at::empty({is_chosen ? needed.size(0) : graph_.num_vertices(), columns}, options_of(at::kFloat));
    }
    return all;
  }

  /// Writes the chunk's rows of layer `index`'s inputs or products. Thread-safe.
  void set_rows(std::size_t index, const VertexChunk& chunk, const at::Tensor& rows, at::Tensor& to) const {
    const auto all = rows_for(index, rows.size(1), to);
    if (index == model_.num_layers() || !needed_[index].defined()) {
      all.narrow(0, chunk.first, rows.size(0)).copy_(rows);
    } else {
      all.index_copy_(0, chunk.vertices.to(model_.device()), rows);
    }
  }

  template <class Inputs>
  void add_products(std::size_t index, const VertexChunk& chunk, const Inputs& inputs,
                    Projection& products) const {
    const auto parts = model_.layer(index).project(inputs);
    {
      const std::lock_guard lock(making_rows_);
      products.resize(parts.size());
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      set_rows(index, chunk, parts[i], products[i]);
    }
  }

  Projection products_of_features() const {
    Projection products;
    for_chunks(needed_.front(), feature_bytes(graph_.features), 0, [&](const VertexChunk& chunk) {
      with_inputs(graph_.features, {}, chunk, model_.device(),
                  [&](const auto& inputs) { add_products(0, chunk, inputs, products); });
    });
    return products;
  }

  at::Tensor copied_features() const {
    at::Tensor features;
    for_chunks(needed_.front(), feature_bytes(graph_.features), 0, [&](const VertexChunk& chunk) {
      set_rows(0, chunk, dense_rows(graph_.features, chunk.vertices).to(model_.device()), features);
    });
    return features;
  }

  Hop hop_of(const VertexChunk& chunk) const {
    auto hop = neighbourhoods_.of(chunk.vertices);
    hop.saves_memory = reads_.only_hidden();
    return hop;
  }

  /// The outputs of layer `index` before its norm and activation.
  at::Tensor aggregate(std::size_t index, const Values& values, const Hop& hop) const {
    const auto& layer = model_.layer(index);
    if (reads_.products(index)) {
      return layer.propagate(values.products, hop, nullptr);
    }
    if (values.inputs.defined()) {
      return layer.forward(values.inputs, hop, nullptr);
    }
    return layer.forward(DroppedFeatures{stored_features(graph_.features, {}), {}}, hop, nullptr);
  }

  at::Tensor finish(std::size_t index, const Values& values, const VertexChunk& chunk,
                    const at::Tensor& aggregated) const {
    const auto finished = [&](const auto& inputs) { return model_.finish(index, aggregated, inputs); };
    return model_.has_skip() ? with_inputs(graph_.features, values.inputs, chunk, model_.device(), finished)
                             : finished(at::Tensor());
  }

  Values run_layer(std::size_t index, Values values) {
    if (index == 0 && reads_.products(0)) {
      values.products = products_of_features();
    } else if (index == 0 && reads_.copies_features()) {
      values.inputs = copied_features();
    }
    if (options_.embeddings != nullptr && reads_.is_last(index)) {
      *options_.embeddings = values.inputs.cpu();
    }
    if (options_.hidden != nullptr && index > 0) {
      options_.hidden->push_back(values.inputs.cpu());
    }
    if (reads_.is_left_out(index)) {
      return {};
    }
    Values next;
    const auto [vertex_bytes, edge_bytes] = bytes_of_chunks(values);
    for_chunks(needed_[index + 1], vertex_bytes, edge_bytes, [&](const VertexChunk& chunk) {
      const auto outputs = finish(index, values, chunk, aggregate(index, values, hop_of(chunk)));
      if (reads_.is_last(index) || reads_.inputs(index + 1)) {
        set_rows(index + 1, chunk, outputs, next.inputs);
      }
      if (!reads_.is_last(index) && reads_.products(index + 1)) {
        add_products(index + 1, chunk, outputs, next.products);
      }
    });
    return next;
  }

  /// Bytes of a vertex and an in-edge of a chunk in addition to the values of all vertices: the vertex's own
  /// rows and a few numbers per edge (ids, attention).
  std::pair<std::int64_t, std::int64_t> bytes_of_chunks(const Values& values) const {
    std::int64_t row_bytes = values.inputs.defined() ? 4 * values.inputs.size(1) : 0;
    if (!values.inputs.defined() && (values.products.empty() || model_.has_skip())) {
      row_bytes = feature_bytes(graph_.features);
    }
    for (const auto& product : values.products) {
      row_bytes += 4 * product.size(1);
    }
    return {3 * row_bytes, chunk_edge_bytes};
  }

  const graph::Graph& graph_;
  const Model& model_;
  const InferenceOptions& options_;
  LayerReads reads_;
  /// The vertices for which the inputs of each layer are needed, and at the end the logits; undefined: all.
  std::vector<at::Tensor> needed_;
  Neighbourhoods neighbourhoods_;
  mutable std::mutex making_rows_;
};

}  // namespace

at::Tensor infer(const graph::Graph& graph, const Model& model, const InferenceOptions& options) {
  const at::NoGradGuard no_grad;
  const TransientTensors transient;
  const std::size_t kept = options.hidden == nullptr ? 0 : options.hidden->size();
  if (model.takes_all_sources()) {
    try {
      return Inference(graph, model, options).run();
    } catch (const c10::OutOfMemoryError&) {
      if (model.device().is_cpu()) {
        throw;
      }
    }
    if (options.hidden != nullptr) {
      options.hidden->resize(kept);
    }
  }
  return Inference(graph, model.copied_to(at::kCPU), options).run();
}

std::int64_t inference_bytes(const graph::Graph& graph, const Model& model, const InferenceOptions& options) {
  if (model.device().is_cpu()) {
    return resident_bytes(graph, model, options);
  }
  return resident_bytes(graph, model.copied_to(at::kCPU), options);
}

at::Tensor rows_of_vertices(const at::Tensor& values, std::span<const graph::VertexId> vertices) {
  return values.index_select(0, ids_of(vertices));
}

PredictedClasses predicted_classes(const at::Tensor& logits, bool is_multilabel) {
  if (!is_multilabel) {
    const auto classes = logits.argmax(1).to(at::kInt);
    const auto* values = classes.const_data_ptr<std::int32_t>();
    return {{}, {values, values + classes.numel()}};
  }
  PredictedClasses predicted{{0}, {}};
  const auto values = logits.accessor<float, 2>();
  for (std::int64_t row = 0; row < logits.size(0); ++row) {
    for (std::int64_t c = 0; c < logits.size(1); ++c) {
      if (values[row][c] > 0) {
        predicted.classes.push_back(static_cast<std::int32_t>(c));
      }
    }
    predicted.begins.push_back(std::ssize(predicted.classes));
  }
  return predicted;
}

Score score(const at::Tensor& logits, const graph::Graph& graph, std::span<const graph::VertexId> vertices) {
  return graph.is_multilabel() ? score_label_sets(logits, graph, vertices)
                               : score(logits, graph.labels, vertices);
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
  for (std::int64_t row = 0; row < std::ssize(vertices); ++row) {
    const auto label = labels[static_cast<std::size_t>(vertices[static_cast<std::size_t>(row)])];
    if (label >= 0) {
      ++counted;
      correct += classes[row] == label ? 1 : 0;
      loss += log_sum[row] - values[row][label];
    }
  }
  if (counted == 0) {
    return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  }
  return {static_cast<double>(correct) / static_cast<double>(counted), loss / static_cast<double>(counted)};
}

}  // namespace gnomon::nn
