#include "nn/models.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

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
  at::Tensor zeros(std::int64_t count) {
    return at::zeros({count}, at::TensorOptions(at::kFloat).device(device_)).requires_grad_();
  }

 private:
  std::uint64_t seed_;
  at::Device device_;
  std::uint64_t next_ = 0;
};

/// Whether aggregating `in` columns before the matrix product is less work than `out` columns after it.
bool aggregates_first(const SparseBlock& block, std::int64_t in, std::int64_t out) {
  const auto work = [&](std::int64_t rows, std::int64_t columns) {
    return rows * in * out + block.num_edges() * columns;
  };
  return work(block.num_destinations(), in) < work(block.num_sources(), out);
}

at::Tensor destinations_of(const at::Tensor& sources, const Hop& hop) {
  return sources.narrow(0, 0, hop.block->num_destinations());
}
at::Tensor destinations_of(const DroppedFeatures& sources, const Hop& hop) {
  return first_rows(sources, hop.block->num_destinations());
}

/// Implements both overloads of Layer::forward by the template run(x, hop, dropout) of the derived class
/// (CRTP).
template <class Own>
class LayerOf : public Layer {
 public:
  at::Tensor forward(const at::Tensor& x, const Hop& hop, const DropoutSpec* dropout) const final {
    return static_cast<const Own&>(*this).run(x, hop, dropout);
  }
  at::Tensor forward(const DroppedFeatures& x, const Hop& hop, const DropoutSpec* dropout) const final {
    return static_cast<const Own&>(*this).run(x, hop, dropout);
  }
};

/// H' = Â H W + b with Â = (D+I)^-1/2 (A+I) (D+I)^-1/2.
class GcnLayer final : public LayerOf<GcnLayer> {
 public:
  GcnLayer(Initialiser& initialise, std::int64_t in, std::int64_t out) {
    parameters_ = {initialise.matrix(in, out), initialise.zeros(out)};
  }

  at::Tensor project(const at::Tensor& x) const override { return dense::linear(x, parameters_[0]); }
  at::Tensor propagate(const at::Tensor& projected, const Hop& hop, const DropoutSpec*) const override {
    return dense::add_bias(aggregate(projected, hop), parameters_[1]);
  }
  template <class Inputs>
  at::Tensor run(const Inputs& x, const Hop& hop, const DropoutSpec* dropout) const {
    if (aggregates_first(*hop.block, x.size(1), parameters_[0].size(1))) {
      return dense::add_bias(dense::linear(aggregate(x, hop), parameters_[0]), parameters_[1]);
    }
    return propagate(dense::linear(x, parameters_[0]), hop, dropout);
  }

 private:
  template <class Inputs>
  static at::Tensor aggregate(const Inputs& x, const Hop& hop) {
    const auto& block = hop.block;
    const auto destinations = block->num_destinations();
    const auto source_scale = (hop.degrees + 1).rsqrt_();
    const auto drawn = block->indptr().diff().to(at::kFloat);
    auto destination_scale = hop.degrees.narrow(0, 0, destinations) / drawn;
    destination_scale.mul_(source_scale.narrow(0, 0, destinations)).masked_fill_(drawn.eq(0), 0);
    const auto own_scale = source_scale.narrow(0, 0, destinations).square().unsqueeze(1);
    return spmm_scaled(block, x, destination_scale, source_scale) + destinations_of(x, hop) * own_scale;
  }
};

/// h'(v) = W_self h(v) + W_neighbours mean h(u) + b.
class SageLayer final : public LayerOf<SageLayer> {
 public:
  SageLayer(Initialiser& initialise, std::int64_t in, std::int64_t out) {
    parameters_ = {initialise.matrix(in, out), initialise.matrix(in, out), initialise.zeros(out)};
  }

  at::Tensor project(const at::Tensor& x) const override {
    return at::cat(std::vector{dense::linear(x, parameters_[0]), dense::linear(x, parameters_[1])}, 1);
  }
  at::Tensor propagate(const at::Tensor& projected, const Hop& hop, const DropoutSpec*) const override {
    const auto parts = projected.chunk(2, 1);
    return dense::add_bias(destinations_of(parts[0], hop) + spmm_mean(hop.block, parts[1]), parameters_[2]);
  }
  template <class Inputs>
  at::Tensor run(const Inputs& x, const Hop& hop, const DropoutSpec*) const {
    if (aggregates_first(*hop.block, x.size(1), parameters_[1].size(1))) {
      return sage_product(hop.block, x, parameters_[0], parameters_[1], parameters_[2]);
    }
    const auto neighbours = spmm_mean(hop.block, dense::linear(x, parameters_[1]));
    return dense::add_bias(dense::linear(destinations_of(x, hop), parameters_[0]) + neighbours,
                           parameters_[2]);
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
  }

  at::Tensor project(const at::Tensor& x) const override { return dense::linear(x, parameters_[0]); }
  at::Tensor propagate(const at::Tensor& projected, const Hop& hop,
                       const DropoutSpec* dropout) const override {
    const auto block = with_self_loops(*hop.block);
    const auto to_sources = dense::linear(projected, per_head(parameters_[1]));
    const auto to_destinations = dense::linear(destinations_of(projected, hop), per_head(parameters_[2]));
    auto attention = edge_softmax(block, at::leaky_relu(sddmm_add(block, to_destinations, to_sources), 0.2));
    if (dropout != nullptr) {
      attention = dense::dropout(attention, dropout->probability, dropout->attention());
    }
    const auto out = spmm_weighted(block, projected.view({-1, heads_, width_}), attention);
    return dense::add_bias(out.flatten(1), parameters_[3]);
  }
  template <class Inputs>
  at::Tensor run(const Inputs& x, const Hop& hop, const DropoutSpec* dropout) const {
    return propagate(dense::linear(x, parameters_[0]), hop, dropout);
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

}  // namespace

DropoutSpec DropoutSpec::of_layer(std::size_t index) const {
  auto of_layer = *this;
  of_layer.key.level = static_cast<std::uint32_t>(index);
  return of_layer;
}

base::StreamKey DropoutSpec::inputs() const {
  auto stream = key;
  stream.level = 2 * key.level;
  return stream;
}

base::StreamKey DropoutSpec::attention() const {
  auto stream = key;
  stream.level = 2 * key.level + 1;
  return stream;
}

Model::Model(const plan::Job& job, std::int64_t columns, std::int64_t classes, at::Device device)
    : kind_(job.model), device_(device) {
  Initialiser initialise(job.seed, device);
  for (int i = 0; i < job.layers(); ++i) {
    const bool is_last = i + 1 == job.layers();
    layers_.push_back(
        make_layer(job, initialise, i == 0 ? columns : job.hidden, is_last ? classes : job.hidden, is_last));
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
  return kind_ == plan::ModelKind::gat ? dense::dropout(dense::elu(x), of_next.probability, of_next.inputs())
                                       : dense::relu_dropout(x, of_next.probability, of_next.inputs());
}

at::Tensor Model::first_layer(const TensorBatch& data, const Hop& hop, const DropoutSpec* dropout) const {
  if (!data.features.defined()) {
    const auto rule = dropout == nullptr ? kernels::DropoutRule{}
                                         : dense::dropout_rule(dropout->probability, dropout->inputs());
    return layers_[0]->forward(DroppedFeatures{data.stored, rule}, hop, dropout);
  }
  auto x = data.features.to(at::kFloat);
  if (dropout != nullptr) {
    x = dense::dropout(x, dropout->probability, dropout->inputs());
  }
  return layers_[0]->forward(x, hop, dropout);
}

at::Tensor Model::forward(const TensorBatch& data, const std::optional<DropoutSpec>& dropout) const {
  at::Tensor x;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto& block = data.blocks[layers_.size() - 1 - i];
    const Hop hop{block, data.degrees.narrow(0, 0, block->num_sources())};
    const auto of_layer = dropout ? std::optional(dropout->of_layer(i)) : std::nullopt;
    const DropoutSpec* own = of_layer ? &*of_layer : nullptr;
    x = i == 0 ? first_layer(data, hop, own) : layers_[i]->forward(x, hop, own);
    x = dropout ? activate_and_drop(i, x, dropout->of_layer(i + 1)) : activate(i, x);
  }
  return x;
}

std::vector<at::Tensor> Model::parameters() const {
  std::vector<at::Tensor> all;
  for (const auto& layer : layers_) {
    all.insert(all.end(), layer->parameters().begin(), layer->parameters().end());
  }
  return all;
}

void copy_values(const std::vector<at::Tensor>& from, const std::vector<at::Tensor>& to) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i].copy_(from[i]);
  }
}

}  // namespace gnomon::nn
