#include "nn/layers/fused_gat.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <utility>

namespace gnomon::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// The parameters of layers, from a list of three tensors each.
std::vector<GatParameters> layers_of(at::TensorList tensors) {
  std::vector<GatParameters> layers;
  for (std::size_t i = 0; i + 2 < tensors.size(); i += 3) {
    layers.push_back({tensors[i], tensors[i + 1], tensors[i + 2]});
  }
  return layers;
}

void check_no_second_derivative() {
  TORCH_CHECK(!at::GradMode::is_enabled(),
              "gradients of a fused layer cannot be differentiated again (create_graph)");
}

struct JointWeights : torch::autograd::Function<JointWeights> {
  static tensor_list forward(AutogradContext* context, at::TensorList parameters, std::vector<GatMask>* masks,
                             const GatKernels* kernels) {
    context->save_for_backward(parameters.vec());
    context->saved_data["kernels"] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(kernels));
    return kernels->prepare(layers_of(parameters), *masks);
  }
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    check_no_second_derivative();
    const auto saved = context->get_saved_variables();
    // Saved data holds integers only. NOLINTNEXTLINE(performance-no-int-to-ptr)
    const auto* kernels = reinterpret_cast<const GatKernels*>(
        static_cast<std::intptr_t>(context->saved_data["kernels"].toInt()));
    for (auto& gradient : gradients) {
      gradient = gradient.contiguous();
    }
    tensor_list all;
    for (const auto& layer : kernels->parameter_gradients(layers_of(saved), gradients)) {
      all.insert(all.end(), {layer.weight, layer.of_sources, layer.of_destinations});
    }
    all.resize(all.size() + 2);
    return all;
  }
};

/// Keeps the arguments of a layer for its backward pass.
struct SavedSpec : torch::CustomClassHolder {
  explicit SavedSpec(GatAttentionSpec saved) : spec(std::move(saved)) {}
  GatAttentionSpec spec;
};

struct Attend : torch::autograd::Function<Attend> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& projection, const at::Tensor& bias,
                            const GatAttentionSpec& spec) {
    const auto x = projection.contiguous();
    const auto results = spec.block->kernels().gat()->attend(spec, x, bias.contiguous());
    context->saved_data["spec"] = c10::IValue::make_capsule(c10::make_intrusive<SavedSpec>(spec));
    context->save_for_backward({x, results.exponentials, results.scales, results.sums, results.out});
    return results.out;
  }
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    check_no_second_derivative();
    const auto spec =
        c10::static_intrusive_pointer_cast<SavedSpec>(context->saved_data["spec"].toCapsule())->spec;
    const auto saved = context->get_saved_variables();
    const auto made = spec.block->kernels().gat()->attend_gradient(
        spec, saved[0], {saved[1], saved[2], saved[3], saved[4]}, gradients[0].contiguous());
    return {made.projection, made.bias, {}};
  }
};

}  // namespace

bool can_fuse_gat(const std::vector<SparseBlockPtr>& blocks) {
  constexpr std::int64_t longest_row = 256;
  return blocks.size() <= kernels::device::max_gat_layers &&
         std::all_of(blocks.begin(), blocks.end(), [](const SparseBlockPtr& block) {
           return block->kernels().gat() != nullptr && !block->destinations().defined() &&
                  block->max_in_degree() <= longest_row;
         });
}

std::vector<FusedGat> fuse_gat(const std::vector<GatToFuse>& layers) {
  std::vector<FusedGat> fused;
  std::vector<SparseBlockPtr> blocks;
  std::vector<at::Tensor> parameters;
  std::vector<GatMask> masks;
  for (const auto& layer : layers) {
    const auto& vectors = layer.parameters.of_sources;
    const auto& block = layer.block;
    blocks.push_back(block);
    parameters.insert(parameters.end(), {layer.parameters.weight, vectors, layer.parameters.of_destinations});
    masks.push_back(
        {layer.coefficients, {}, (block->num_edges() + block->num_destinations()) * vectors.size(0)});
    fused.push_back({{nullptr,
                      {vectors.size(0), vectors.size(1)},
                      {},
                      {layer.outputs.has_value(), layer.outputs.value_or(kernels::DropoutRule{})}},
                     {}});
  }
  const auto joint = JointWeights::apply(at::TensorList(parameters), &masks, blocks.front()->kernels().gat());
  const auto members = grouped_with_loops(blocks);
  for (std::size_t i = 0; i < fused.size(); ++i) {
    fused[i].attention.block = members[i];
    fused[i].attention.mask = masks[i];
    fused[i].joint_weight = joint[i];
  }
  return fused;
}

at::Tensor attend(const FusedGat& layer, const at::Tensor& projection, const at::Tensor& bias) {
  return Attend::apply(projection, bias, layer.attention);
}

}  // namespace gnomon::nn
