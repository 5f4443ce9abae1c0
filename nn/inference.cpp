#include "nn/inference.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "nn/neighbourhoods.h"
#include "nn/sparse/stored_features.h"

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

/// What a layer reads of all vertices, on the CPU.
struct Values {
  at::Tensor inputs;    ///< undefined: the features, or not needed
  Projection products;  ///< of layers that do not aggregate first
};

/// Writes rows from `begin` on, into a new matrix of `vertices` rows if there is none yet.
void set_rows(at::Tensor& all, std::int64_t vertices, std::int64_t begin, const at::Tensor& rows) {
  if (!all.defined()) {
    all = at::empty({vertices, rows.size(1)}, at::kFloat);
  }
  all.narrow(0, begin, rows.size(0)).copy_(rows);
}

class Inference {
 public:
  Inference(const graph::Graph& graph, const Model& model, const InferenceOptions& options)
      : graph_(graph),
        model_(model),
        options_(options),
        neighbourhoods_(graph, model.device(), model.reads_degrees()) {}

  at::Tensor run() {
    Values values;
    for (std::size_t i = 0; i < model_.num_layers(); ++i) {
      values = run_layer(i, std::move(values));
    }
    return values.inputs;
  }

 private:
  bool is_last(std::size_t index) const { return index + 1 == model_.num_layers(); }

  /// Whether layer `index` reads its inputs' products with the weights, which are computed once for all
  /// vertices; otherwise it reads its inputs.
  bool reads_products(std::size_t index) const {
    const bool is_sparse = index == 0 && graph_.features.is_sparse();
    return !neighbourhoods_.have_all_sources() || is_sparse || !model_.layer(index).aggregates_first();
  }

  bool keeps_inputs(std::size_t index) const {
    return !reads_products(index) || model_.has_skip() || (options_.embeddings != nullptr && is_last(index));
  }

  /// Adds what layer `index` needs of its inputs for vertices from `begin` on.
  template <class Inputs>
  void add_products(std::size_t index, std::int64_t begin, const Inputs& inputs, Projection& products) const {
    const auto parts = model_.layer(index).project(inputs);
    products.resize(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      set_rows(products[i], graph_.num_vertices(), begin, parts[i]);
    }
  }

  /// The products of the features, whose rows may be wide: chunk by chunk.
  Projection products_of_features() const {
    const auto chunk = std::max<std::int64_t>(1, options_.chunk_bytes / input_bytes(graph_, {}));
    Projection products;
    for (std::int64_t begin = 0; begin < graph_.num_vertices(); begin += chunk) {
      const auto count = std::min(chunk, graph_.num_vertices() - begin);
      with_inputs(graph_, {}, begin, count, model_.device(), [&](const auto& inputs) {
        add_products(0, begin, inputs, products);
        return at::Tensor();
      });
      notify(options_);
    }
    return products;
  }

  /// The outputs of layer `index` before its norm and activation, for the neighbourhood's vertices.
  at::Tensor aggregate(std::size_t index, const Values& values, const Neighbourhood& neighbourhood) const {
    const auto& layer = model_.layer(index);
    if (reads_products(index)) {
      return layer.propagate(rows_of(neighbourhood, values.products), neighbourhood.hop, nullptr);
    }
    if (values.inputs.defined()) {
      return layer.forward(values.inputs, neighbourhood.hop, nullptr);
    }
    return layer.forward(DroppedFeatures{stored_features(graph_.features, {}), {}}, neighbourhood.hop,
                         nullptr);
  }

  at::Tensor finish(std::size_t index, const Values& values, std::int64_t begin,
                    const at::Tensor& aggregated) const {
    const auto finished = [&](const auto& inputs) { return model_.finish(index, aggregated, inputs); };
    return model_.has_skip()
               ? with_inputs(graph_, values.inputs, begin, aggregated.size(0), model_.device(), finished)
               : finished(at::Tensor());
  }

  Values run_layer(std::size_t index, Values values) {
    if (reads_products(index) && values.products.empty()) {
      values.products = products_of_features();
    }
    if (options_.embeddings != nullptr && is_last(index)) {
      *options_.embeddings = values.inputs;
    }
    Values next;
    for (std::int64_t begin = 0; begin < graph_.num_vertices();) {
      const auto end = range_end(begin, values);
      const auto neighbourhood = neighbourhoods_.of(begin, end);
      const auto part = finish(index, values, begin, aggregate(index, values, neighbourhood));
      if (is_last(index) || keeps_inputs(index + 1)) {
        set_rows(next.inputs, graph_.num_vertices(), begin, part);
      }
      if (!is_last(index) && reads_products(index + 1)) {
        add_products(index + 1, begin, part, next.products);
      }
      begin = end;
      notify(options_);
    }
    return next;
  }

  /// Sized by what a range takes beside the values of all vertices: gathered rows of its sources, or its own
  /// rows and some numbers an edge (ids, attention).
  std::int64_t range_end(std::int64_t begin, const Values& values) const {
    const bool reads_features = !values.inputs.defined() && (values.products.empty() || model_.has_skip());
    std::int64_t columns = values.inputs.defined() ? values.inputs.size(1)
                           : reads_features        ? graph_.features.columns
                                                   : 1;
    for (const auto& product : values.products) {
      columns += product.size(1);
    }
    constexpr std::int64_t edge_bytes = 64;
    const std::int64_t row_bytes = 4 * columns;
    return neighbourhoods_.have_all_sources()
               ? neighbourhoods_.range_end(begin, options_.chunk_bytes, 3 * row_bytes, edge_bytes)
               : neighbourhoods_.range_end(begin, options_.chunk_bytes, row_bytes, row_bytes);
  }

  const graph::Graph& graph_;
  const Model& model_;
  const InferenceOptions& options_;
  Neighbourhoods neighbourhoods_;
};

}  // namespace

at::Tensor infer(const graph::Graph& graph, const Model& model, const InferenceOptions& options) {
  const at::NoGradGuard no_grad;
  return Inference(graph, model, options).run();
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
