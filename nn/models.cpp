#include "nn/models.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <type_traits>

#include "nn/dense/dense.h"
#include "nn/layers/fused_gat.h"
#include "nn/layers/gnn_layers.h"
#include "nn/layers/initialiser.h"

namespace gnomon::nn {
Model::Model(const plan::Job& job, std::int64_t columns, std::int64_t classes, at::Device device)
    : job_(job), columns_(columns), classes_(classes), device_(device) {
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

Model Model::copied_to(at::Device device) const {
  Model copy(job_, columns_, classes_, device);
  copy_values(state(), copy.state());
  return copy;
}

at::Tensor Model::activate(std::size_t index, const at::Tensor& x) const {
  if (index + 1 == layers_.size()) {
    return x;
  }
  return job_.model == plan::ModelKind::gat ? dense::elu(x) : at::relu(x);
}

at::Tensor Model::activate_and_drop(std::size_t index, const at::Tensor& x,
                                    const DropoutSpec& of_next) const {
  if (index + 1 == layers_.size()) {
    return x;
  }
  return job_.model == plan::ModelKind::gat ? dense::dropout(dense::elu(x), of_next.inputs())
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
  if (hop.gat != nullptr && hop.gat->has_activation()) {
    return out;
  }
  const bool is_last = index + 1 == layers_.size();
  if (!is_last) {
    out = norms_[index].forward(out, dropout.has_value());
  }
  const bool drops = dropout && outputs == Outputs::dropped;
  if (!job_.skip) {
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
  return job_.skip ? out + skip(index, inputs) : out;
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
  TORCH_CHECK(!job_.skip, "a skip connection reads the inputs of all destinations");
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

Hop Model::hop_of(const TensorBatch& data, std::size_t index) const {
  const auto& block = data.blocks[layers_.size() - 1 - index];
  const auto* const reused = index > 0 ? data.reused.get() : nullptr;
  const auto& degrees = reused != nullptr ? reused->degrees : data.degrees;
  return {block, degrees.defined() ? degrees.narrow(0, 0, block->num_sources()) : degrees};
}

std::vector<FusedGat> Model::fused_layers(const TensorBatch& data,
                                          const std::optional<DropoutSpec>& dropout) const {
  if (job_.model != plan::ModelKind::gat || !dropout || data.reused != nullptr ||
      !can_fuse_gat(data.blocks)) {
    return {};
  }
  std::vector<GatToFuse> layers;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto& parameters = layers_[i]->parameters();
    const bool activates = i + 1 < layers_.size() && norms_[i].kind == plan::Norm::none && !job_.skip;
    layers.push_back({{parameters[0], parameters[1], parameters[2]},
                      hop_of(data, i).block,
                      dropout->of_layer(i).attention(),
                      activates ? std::optional(dropout->of_layer(i + 1).inputs()) : std::nullopt});
  }
  return fuse_gat(layers);
}

at::Tensor Model::forward(const TensorBatch& data, const std::optional<DropoutSpec>& dropout) const {
  const auto fused = fused_layers(data, dropout);
  at::Tensor x;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Hop hop = hop_of(data, i);
    if (!fused.empty()) {
      hop.block = fused[i].attention.block;
      hop.gat = &fused[i];
    }
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
