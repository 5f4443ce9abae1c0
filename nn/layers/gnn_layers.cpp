#include "nn/layers/gnn_layers.h"

#include <ATen/ATen.h>

#include <type_traits>

#include "nn/dense/dense.h"
#include "nn/dense/sage_product.h"
#include "nn/layers/fused_gat.h"
#include "nn/sparse/sparse.h"

namespace gnomon::nn {

namespace {

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
  bool aggregates_first(bool saves_memory) const override {
    return saves_memory || parameters_[0].size(0) <= parameters_[0].size(1);
  }
  template <class Inputs>
  at::Tensor run(const Inputs& x, const Hop& hop, const DropoutSpec* dropout) const {
    if constexpr (can_aggregate_first<Inputs>) {
      if (nn::aggregates_first(hop, x.size(1), parameters_[0].size(1))) {
        return dense::affine(aggregate(x, hop), parameters_[0], parameters_[1]);
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
    if (!hop.block->device().is_cpu() && !hop.block->destinations().defined()) {
      return gcn_propagate(hop.block, x, hop.degrees);
    }
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
  bool aggregates_first(bool saves_memory) const override {
    return saves_memory || parameters_[1].size(0) <= parameters_[1].size(1);
  }
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
  bool aggregates_first(bool /*saves_memory*/) const override { return false; }
  template <class Inputs>
  at::Tensor run(const Inputs& x, const Hop& hop, const DropoutSpec* dropout) const {
    if (hop.gat != nullptr) {
      return attend(*hop.gat, dense::linear(x, hop.gat->joint_weight), parameters_[3]);
    }
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

}  // namespace

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

}  // namespace gnomon::nn
