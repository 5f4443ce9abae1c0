#include "nn/models.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <type_traits>

#include "nn/dense/dense.h"
#include "nn/dense/sage_product.h"
#include "nn/sparse/sparse.h"

namespace gnomon::nn {
namespace {

/// Initialises weights on a device. Each has its own random stream of the job's seed.
class Initialiser {
 public:
  Initialiser(std::uint64_t seed, at::Device device) : seed_(seed), device_(device) {}

  /// Returns a weight uniform in ±√(6 / (fan_in + fan_out)) (Glorot and Bengio, AISTATS 2010, equation 16).
  at::Tensor glorot(at::IntArrayRef sizes, std::int64_t fan_in, std::int64_t fan_out) {
    base::RandomStream random({seed_, base::Purpose::initialise, 0, next_++, 0, 0});
    const double bound = std::sqrt(6.0 / static_cast<double>(fan_in + fan_out));
    auto weight = at::empty(sizes, at::kFloat);
    auto* values = weight.mutable_data_ptr<float>();
    for (std::int64_t i = 0; i < weight.numel(); ++i) {
      values[i] = static_cast<float>((2 * random.uniform() - 1) * bound);
    }
    return weight.to(device_).requires_grad_();
  }
  at::Tensor matrix(std::int64_t in, std::int64_t out) { return glorot({in, out}, in, out); }
  /// Returns two matrices. On a device with memory of its own they are adjacent, so that they also form one
  /// matrix of 2 · in rows (nn/dense/sage_product.h).
  std::vector<at::Tensor> matrix_pair(std::int64_t in, std::int64_t out) {
    std::vector<at::Tensor> pair{matrix(in, out), matrix(in, out)};
    if (device_.is_cpu()) {
      return pair;
    }
    const auto both = at::cat({pair[0].detach(), pair[1].detach()});
    return {both.narrow(0, 0, in).detach().requires_grad_(),
            both.narrow(0, in, in).detach().requires_grad_()};
  }
  at::Tensor zeros(std::int64_t count) { return filled(count, 0).requires_grad_(); }
  /// Returns a vector without gradient.
  at::Tensor filled(std::int64_t count, double value) {
    return at::full({count}, value, at::TensorOptions(at::kFloat).device(device_));
  }

 private:
  std::uint64_t seed_;
  at::Device device_;
  std::uint64_t next_ = 0;
};

/// Whether aggregating `in` columns before the matrix product is less work than `out` columns after it.
bool aggregates_first(const Hop& hop, std::int64_t in, std::int64_t out) {
  if (hop.has_all_sources) {
    return in <= out;
  }
  const auto& block = *hop.block;
  const auto work = [&](std::int64_t rows, std::int64_t columns) {
    return rows * in * out + block.num_edges() * columns;
  };
  return work(block.num_destinations(), in) < work(block.num_sources(), out);
}

template <class Inputs>
at::Tensor destinations_of(const Inputs& sources, const Hop& hop) {
  return nn::destinations_of(sources, *hop.block);
}
SparseFeatures destinations_of(const SparseFeatures& sources, const Hop& hop) {
  return first_rows(sources, hop.block->num_destinations());
}

/// Whether a layer can aggregate such inputs before their matrix product. The products of sparse inputs are
/// cheap, and sums of several sparse rows would not be sparse.
template <class Inputs>
constexpr bool can_aggregate_first = !std::is_same_v<Inputs, SparseFeatures>;

/// Implements the overloads of Layer::forward and Layer::project by the templates run(x, hop, dropout) and
/// products(x) of the derived class (CRTP).
template <class Own>
class LayerOf : public Layer {
 public:
  Projection project(const at::Tensor& x) const final { return own().products(x); }
  Projection project(const SparseFeatures& x) const final { return own().products(x); }
  at::Tensor forward(const at::Tensor& x, const Hop& hop, const DropoutSpec* dropout) const final {
    return own().run(x, hop, dropout);
  }
  at::Tensor forward(const DroppedFeatures& x, const Hop& hop, const DropoutSpec* dropout) const final {
    return own().run(x, hop, dropout);
  }
  at::Tensor forward(const SparseFeatures& x, const Hop& hop, const DropoutSpec* dropout) const final {
    return own().run(x, hop, dropout);
  }

 private:
  const Own& own() const { return static_cast<const Own&>(*this); }
};

/// H' = Â H W + b with Â = (D+I)^-1/2 (A+I) (D+I)^-1/2.
class GcnLayer final : public LayerOf<GcnLayer> {
 public:
  GcnLayer(Initialiser& initialise, std::int64_t in, std::int64_t out) {
    parameters_ = {initialise.matrix(in, out), initialise.zeros(out)};
    names_ = {"weight", "bias"};
  }

  template <class Inputs>
  Projection products(const Inputs& x) const {
    return {dense::linear(x, parameters_[0])};
  }
  at::Tensor propagate(const Projection& projected, const Hop& hop, const DropoutSpec*) const override {
    return dense::add_bias(aggregate(projected.front(), hop), parameters_[1]);
  }
  bool aggregates_first() const override { return parameters_[0].size(0) <= parameters_[0].size(1); }
  template <class Inputs>
  at::Tensor run(const Inputs& x, const Hop& hop, const DropoutSpec* dropout) const {
    if constexpr (can_aggregate_first<Inputs>) {
      if (nn::aggregates_first(hop, x.size(1), parameters_[0].size(1))) {
        return dense::add_bias(dense::linear(aggregate(x, hop), parameters_[0]), parameters_[1]);
      }
    }
    return propagate(products(x), hop, dropout);
  }
  std::vector<Operand> operands(const at::Tensor& x, const Hop& hop) const override {
    return {{aggregate(x, hop)}};
  }
  std::vector<Operand> operands(const SparseFeatures& x, const Hop& hop) const override {
    const auto [of_destinations, of_sources, of_own] = scales_of(hop);
    return {{{}, nn::aggregate(*hop.block, x, of_destinations, of_sources, of_own)}};
  }

 private:
  /// The factors of Â: y[v] = destinations[v] · Σ sources[u] · x[u] + own[v] · x[v].
  struct Scales {
    at::Tensor destinations, sources, own;
  };
  static Scales scales_of(const Hop& hop) {
    const auto source_scale = hop.inverse_roots.defined() ? hop.inverse_roots : inverse_roots_of(hop.degrees);
    const auto drawn = hop.block->indptr().diff().to(at::kFloat);
    auto destination_scale = destinations_of(hop.degrees, hop) / drawn;
    destination_scale.mul_(destinations_of(source_scale, hop)).masked_fill_(drawn.eq(0), 0);
    return {destination_scale, source_scale, destinations_of(source_scale, hop).square()};
  }
  template <class Inputs>
  static at::Tensor aggregate(const Inputs& x, const Hop& hop) {
    const auto [of_destinations, of_sources, of_own] = scales_of(hop);
    return spmm_scaled(hop.block, x, of_destinations, of_sources) +
           destinations_of(x, hop) * of_own.unsqueeze(1);
  }
};

/// h'(v) = W_self h(v) + W_neighbours mean h(u) + b.
class SageLayer final : public LayerOf<SageLayer> {
 public:
  SageLayer(Initialiser& initialise, std::int64_t in, std::int64_t out) {
    parameters_ = initialise.matrix_pair(in, out);
    parameters_.push_back(initialise.zeros(out));
    names_ = {"self.weight", "neighbours.weight", "bias"};
  }

  template <class Inputs>
  Projection products(const Inputs& x) const {
    return {dense::linear(x, parameters_[0]), dense::linear(x, parameters_[1])};
  }
  at::Tensor propagate(const Projection& projected, const Hop& hop, const DropoutSpec*) const override {
    return dense::add_bias(destinations_of(projected[0], hop) + spmm_mean(hop.block, projected[1]),
                           parameters_[2]);
  }
  bool aggregates_first() const override { return parameters_[1].size(0) <= parameters_[1].size(1); }
  template <class Inputs>
  at::Tensor run(const Inputs& x, const Hop& hop, const DropoutSpec*) const {
    if constexpr (can_aggregate_first<Inputs>) {
      if (nn::aggregates_first(hop, x.size(1), parameters_[1].size(1))) {
        return sage_product(hop.block, x, parameters_[0], parameters_[1], parameters_[2]);
      }
    }
    const auto neighbours = spmm_mean(hop.block, dense::linear(x, parameters_[1]));
    return dense::add_bias(dense::linear(destinations_of(x, hop), parameters_[0]) + neighbours,
                           parameters_[2]);
  }
  std::vector<Operand> operands(const at::Tensor& x, const Hop& hop) const override {
    return {{destinations_of(x, hop).contiguous()}, {spmm_mean(hop.block, x)}};
  }
  std::vector<Operand> operands(const SparseFeatures& x, const Hop& hop) const override {
    const auto drawn = hop.block->indptr().diff().to(at::kFloat);
    return {{{}, destinations_of(x, hop)},
            {{}, nn::aggregate(*hop.block, x, drawn.reciprocal().masked_fill_(drawn.eq(0), 0), {}, {})}};
  }
};

/// h'(v) = ‖_k Σ α_k(u,v) W_k h(u) + b over the neighbours of v and itself, with
/// α_k = softmax(LeakyReLU(a_k · [W_k h(v) ‖ W_k h(u)])).
class GatLayer final : public LayerOf<GatLayer> {
 public:
  GatLayer(Initialiser& initialise, std::int64_t in, std::int64_t heads, std::int64_t width)
      : heads_(heads), width_(width) {
    parameters_ = {initialise.glorot({in, heads * width}, in, width),
                   initialise.glorot({heads, width}, heads, width),
                   initialise.glorot({heads, width}, heads, width), initialise.zeros(heads * width)};
    names_ = {"weight", "attention.sources", "attention.destinations", "bias"};
  }

  /// The values, and each source's contribution to the attention logits.
  template <class Inputs>
  Projection products(const Inputs& x) const {
    const auto values = dense::linear(x, parameters_[0]);
    return {values, dense::linear(values, per_head(parameters_[1]))};
  }
  at::Tensor propagate(const Projection& projected, const Hop& hop,
                       const DropoutSpec* dropout) const override {
    const auto block = with_self_loops(*hop.block);
    const auto& values = projected[0];
    const auto to_destinations = dense::linear(destinations_of(values, hop), per_head(parameters_[2]));
    auto attention =
        edge_softmax(block, at::leaky_relu(sddmm_add(block, to_destinations, projected[1]), 0.2));
    if (dropout != nullptr) {
      attention = dense::dropout(attention, dropout->attention());
    }
    const auto out = spmm_weighted(block, values.view({-1, heads_, width_}), attention);
    return dense::add_bias(out.flatten(1), parameters_[3]);
  }
  bool aggregates_first() const override { return false; }
  template <class Inputs>
  at::Tensor run(const Inputs& x, const Hop& hop, const DropoutSpec* dropout) const {
    return propagate(products(x), hop, dropout);
  }

 private:
  /// Returns the block-diagonal matrix (heads · width, heads) whose product yields each head's dot product
  /// with its row of `vectors`.
  at::Tensor per_head(const at::Tensor& vectors) const {
    return (vectors.unsqueeze(2) * at::eye(heads_, vectors.options()).unsqueeze(1))
        .reshape({heads_ * width_, heads_});
  }

  std::int64_t heads_;
  std::int64_t width_;
};

std::unique_ptr<Layer> make_layer(const plan::Job& job, Initialiser& initialise, std::int64_t in,
                                  std::int64_t out, bool is_last) {
  switch (job.model) {
    case plan::ModelKind::gcn:
      return std::make_unique<GcnLayer>(initialise, in, out);
    case plan::ModelKind::sage:
      return std::make_unique<SageLayer>(initialise, in, out);
    case plan::ModelKind::gat:
      break;
  }
  const std::int64_t heads = is_last ? 1 : job.heads;
  return std::make_unique<GatLayer>(initialise, in, heads, out / heads);
}

NormLayer make_norm(plan::Norm kind, Initialiser& initialise, std::int64_t columns) {
  NormLayer norm;
  norm.kind = kind;
  if (kind != plan::Norm::none) {
    norm.gain = initialise.filled(columns, 1).requires_grad_();
    norm.bias = initialise.zeros(columns);
  }
  if (kind == plan::Norm::batch) {
    norm.running = {initialise.filled(columns, 0), initialise.filled(columns, 1)};
  }
  return norm;
}

}  // namespace

at::Tensor inverse_roots_of(const at::Tensor& degrees) { return (degrees + 1).rsqrt_(); }

at::Tensor NormLayer::forward(const at::Tensor& x, bool training) const {
  switch (kind) {
    case plan::Norm::none:
      break;
    case plan::Norm::batch:
      return training ? dense::batch_norm(x, gain, bias, running)
                      : dense::batch_norm_by_running(x, gain, bias, running);
    case plan::Norm::layer:
      return dense::layer_norm(x, gain, bias);
  }
  return x;
}

DropoutSpec DropoutSpec::of_layer(std::size_t index) const {
  auto of_layer = *this;
  of_layer.key.level = static_cast<std::uint32_t>(index);
  return of_layer;
}

kernels::DropoutRule DropoutSpec::inputs() const {
  auto stream = key;
  stream.level = 2 * key.level;
  auto rule = dense::dropout_rule(probability, stream);
  rule.number = number;
  return rule;
}

kernels::DropoutRule DropoutSpec::attention() const {
  auto rule = inputs();
  ++rule.key.level;
  return rule;
}

Model::Model(const plan::Job& job, std::int64_t columns, std::int64_t classes, at::Device device)
    : kind_(job.model), has_skip_(job.skip), device_(device) {
  Initialiser initialise(job.seed, device);
  for (int i = 0; i < job.layers(); ++i) {
    const bool is_last = i + 1 == job.layers();
    const std::int64_t in = i == 0 ? columns : job.hidden;
    const std::int64_t out = is_last ? classes : job.hidden;
    layers_.push_back(make_layer(job, initialise, in, out, is_last));
    if (!is_last) {
      norms_.push_back(make_norm(job.norm, initialise, out));
    }
    skips_.push_back(job.skip && in != out ? initialise.matrix(in, out) : at::Tensor());
  }
}

at::Tensor Model::activate(std::size_t index, const at::Tensor& x) const {
  if (index + 1 == layers_.size()) {
    return x;
  }
  return kind_ == plan::ModelKind::gat ? dense::elu(x) : at::relu(x);
}

at::Tensor Model::activate_and_drop(std::size_t index, const at::Tensor& x,
                                    const DropoutSpec& of_next) const {
  if (index + 1 == layers_.size()) {
    return x;
  }
  return kind_ == plan::ModelKind::gat ? dense::dropout(dense::elu(x), of_next.inputs())
                                       : dense::relu_dropout(x, of_next.inputs());
}

at::Tensor Model::skip(std::size_t index, const at::Tensor& inputs) const {
  return skips_[index].defined() ? dense::linear(inputs, skips_[index]) : inputs;
}

at::Tensor Model::skip(std::size_t index, const SparseFeatures& inputs) const {
  return skips_[index].defined() ? dense::linear(inputs, skips_[index]) : to_dense(inputs);
}

template <class Inputs>
at::Tensor Model::run_layer(std::size_t index, const Inputs& inputs, const Hop& hop,
                            const std::optional<DropoutSpec>& dropout, Outputs outputs) const {
  const auto own = dropout ? std::optional(dropout->of_layer(index)) : std::nullopt;
  return complete(index, layers_[index]->forward(inputs, hop, own ? &*own : nullptr), inputs, hop, dropout,
                  outputs);
}

template <class Inputs>
at::Tensor Model::complete(std::size_t index, at::Tensor out, const Inputs& inputs, const Hop& hop,
                           const std::optional<DropoutSpec>& dropout, Outputs outputs) const {
  const bool is_last = index + 1 == layers_.size();
  if (!is_last) {
    out = norms_[index].forward(out, dropout.has_value());
  }
  const bool drops = dropout && outputs == Outputs::dropped;
  if (!has_skip_) {
    return drops ? activate_and_drop(index, out, dropout->of_layer(index + 1)) : activate(index, out);
  }
  out = activate(index, out) + skip(index, destinations_of(inputs, hop));
  if (is_last || !drops) {
    return out;
  }
  const auto of_next = dropout->of_layer(index + 1);
  return dense::dropout(out, of_next.inputs());
}

template <class Inputs>
at::Tensor Model::finish_layer(std::size_t index, const at::Tensor& propagated, const Inputs& inputs) const {
  const bool is_last = index + 1 == layers_.size();
  const auto out = activate(index, is_last ? propagated : norms_[index].forward(propagated, false));
  return has_skip_ ? out + skip(index, inputs) : out;
}

at::Tensor Model::finish(std::size_t index, const at::Tensor& propagated, const at::Tensor& inputs) const {
  return finish_layer(index, propagated, inputs);
}

at::Tensor Model::finish(std::size_t index, const at::Tensor& propagated,
                         const SparseFeatures& inputs) const {
  return finish_layer(index, propagated, inputs);
}

template <class Act>
auto Model::with_inputs(const TensorBatch& data, const std::optional<DropoutSpec>& dropout,
                        const Act& act) const {
  const auto own = dropout ? std::optional(dropout->of_layer(0)) : std::nullopt;
  const auto rule = own ? own->inputs() : kernels::DropoutRule{};
  if (data.sparse.defined()) {
    return act(dropped(data.sparse, rule));
  }
  if (!data.features.defined()) {
    return act(DroppedFeatures{data.stored, rule});
  }
  return act(own ? dense::dropout_of_features(data.features, rule) : data.features.to(at::kFloat));
}

at::Tensor Model::first_layer(const TensorBatch& data, const Hop& hop,
                              const std::optional<DropoutSpec>& dropout, Outputs outputs) const {
  if (data.reused != nullptr && data.reused->order.defined()) {
    return first_layer_reusing(data, hop, dropout);
  }
  return with_inputs(data, dropout, [&](const auto& x) { return run_layer(0, x, hop, dropout, outputs); });
}

at::Tensor Model::first_layer_reusing(const TensorBatch& data, const Hop& hop,
                                      const std::optional<DropoutSpec>& dropout) const {
  TORCH_CHECK(!has_skip_, "a skip connection reads the inputs of all destinations");
  const auto& [order, degrees, rows] = *data.reused;
  auto out = reuse(rows, layers_[0]->parameters());
  if (hop.block->num_destinations() > 0) {
    const auto own = dropout ? std::optional(dropout->of_layer(0)) : std::nullopt;
    const auto computed = with_inputs(
        data, dropout, [&](const auto& x) { return layers_[0]->forward(x, hop, own ? &*own : nullptr); });
    out = at::cat({computed, out});
  }
  return complete(0, out.index_select(0, order), at::Tensor(), hop, dropout, Outputs::dropped);
}

std::vector<Operand> Model::bottom_operands(const TensorBatch& batch,
                                            const std::optional<DropoutSpec>& dropout) const {
  const Hop hop{batch.blocks.front(), batch.degrees};
  return with_inputs(batch, dropout, [&](const auto& x) -> std::vector<Operand> {
    if constexpr (std::is_same_v<std::decay_t<decltype(x)>, DroppedFeatures>) {
      return {};  // reused rows are always gathered
    } else {
      return layers_[0]->operands(x, hop);
    }
  });
}

/// The hop along which layer `index` aggregates.
Hop Model::hop_of(const TensorBatch& data, std::size_t index) const {
  const auto& block = data.blocks[layers_.size() - 1 - index];
  const auto& degrees = index > 0 && data.reused != nullptr ? data.reused->degrees : data.degrees;
  return {block, degrees.defined() ? degrees.narrow(0, 0, block->num_sources()) : degrees};
}

at::Tensor Model::forward(const TensorBatch& data, const std::optional<DropoutSpec>& dropout) const {
  at::Tensor x;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Hop hop = hop_of(data, i);
    x = i == 0 ? first_layer(data, hop, dropout) : run_layer(i, x, hop, dropout);
  }
  return x;
}

at::Tensor Model::forward(const TensorBatch& data, HistoricalRows& rows, const DropoutSpec& dropout) const {
  const Hop hop{data.blocks.front(), data.degrees};
  auto x = first_layer(data, hop, dropout, Outputs::kept);
  rows.seeds.clear();
  for (std::size_t i = 1; i < layers_.size(); ++i) {
    rows.seeds.push_back(x.detach());
    const auto own = dropout.of_layer(i);
    x = dense::dropout(at::cat({x, rows.halo[i - 1]}), own.inputs());
    x = run_layer(i, x, hop, dropout, Outputs::kept);
  }
  return x;
}

at::Tensor Model::forward(const TensorBatch& data, HaloRows& rows, const DropoutSpec& dropout) const {
  auto x = first_layer(data, hop_of(data, 0), dropout, Outputs::kept);
  rows.computed.clear();
  for (std::size_t i = 1; i < layers_.size(); ++i) {
    rows.computed.push_back(x.detach());
    const auto& stored = rows.stored[i - 1];
    const auto own = dropout.of_layer(i);
    x = x.index_copy(0, rows.positions.narrow(0, 0, stored.size(0)), stored);
    x = dense::dropout(x, own.inputs());
    x = run_layer(i, x, hop_of(data, i), dropout, Outputs::kept);
  }
  return x;
}

std::vector<at::Tensor> Model::parameters() const {
  std::vector<at::Tensor> all;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    all.insert(all.end(), layers_[i]->parameters().begin(), layers_[i]->parameters().end());
    if (i < norms_.size() && norms_[i].kind != plan::Norm::none) {
      all.insert(all.end(), {norms_[i].gain, norms_[i].bias});
    }
    if (skips_[i].defined()) {
      all.push_back(skips_[i]);
    }
  }
  return all;
}

std::vector<at::Tensor> Model::buffers() const {
  std::vector<at::Tensor> all;
  for (const auto& norm : norms_) {
    if (norm.kind == plan::Norm::batch) {
      all.insert(all.end(), {norm.running.mean, norm.running.variance});
    }
  }
  return all;
}

std::vector<at::Tensor> Model::state() const {
  auto all = parameters();
  const auto rest = buffers();
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

std::vector<std::string> Model::state_names() const {
  std::vector<std::string> names;
  std::vector<std::string> of_buffers;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto prefix = "layers." + std::to_string(i) + ".";
    for (const auto& name : layers_[i]->names()) {
      names.push_back(prefix + name);
    }
    const auto kind = i < norms_.size() ? norms_[i].kind : plan::Norm::none;
    if (kind != plan::Norm::none) {
      names.insert(names.end(), {prefix + "norm.weight", prefix + "norm.bias"});
    }
    if (kind == plan::Norm::batch) {
      of_buffers.insert(of_buffers.end(), {prefix + "norm.running_mean", prefix + "norm.running_var"});
    }
    if (skips_[i].defined()) {
      names.push_back(prefix + "skip.weight");
    }
  }
  names.insert(names.end(), of_buffers.begin(), of_buffers.end());
  return names;
}

void copy_values(const std::vector<at::Tensor>& from, const std::vector<at::Tensor>& to) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i].copy_(from[i]);
  }
}

}  // namespace gnomon::nn
