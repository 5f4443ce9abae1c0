#pragma once

#include <ATen/ATen.h>

#include <utility>
#include <vector>

#include "kernels/device/gat.h"
#include "nn/sparse/device_rows.h"
#include "nn/sparse/gat_kernels.h"

namespace gnomon::nn {

/// Implements GatKernels by the kernels of kernels/device. `Launches` is as in DeviceSparseKernels.
template <class Launches>
class DeviceGatKernels final : public GatKernels {
 public:
  explicit DeviceGatKernels(Launches launches) : launches_(std::move(launches)) {}

  std::vector<at::Tensor> prepare(const std::vector<GatParameters>& layers,
                                  std::vector<GatMask>& masks) const override {
    std::vector<at::Tensor> joint;
    std::vector<kernels::device::GatLayerToPrepare> tasks;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto layer = layer_of(layers[i]);
      joint.push_back(
          at::empty({layer.inputs, kernels::device::joint_columns(layer.heads)}, layers[i].weight.options()));
      tasks.push_back({layer, floats(joint.back()), masks[i].rule, 0, nullptr});
      if (masks[i].rule.threshold > 0) {
        masks[i].bits = at::empty({kernels::kept_bytes(masks[i].coefficients)},
                                  layers[i].weight.options().dtype(at::kByte));
        tasks.back().coefficients = masks[i].coefficients;
        tasks.back().kept = masks[i].bits.template mutable_data_ptr<std::uint8_t>();
      }
    }
    auto launch = launches_.begin(joint.front());
    kernels::device::prepare_gat(launch.executor, tasks.data(), static_cast<int>(tasks.size()));
    return joint;
  }

  std::vector<GatParameters> parameter_gradients(const std::vector<GatParameters>& layers,
                                                 const std::vector<at::Tensor>& gradients) const override {
    std::vector<GatParameters> made;
    std::vector<kernels::device::GatLayerGradients> tasks;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      auto& of = made.emplace_back(GatParameters{at::empty_like(layers[i].weight),
                                                 at::empty_like(layers[i].of_sources),
                                                 at::empty_like(layers[i].of_destinations)});
      tasks.push_back({layer_of(layers[i]), numbers(gradients[i]), floats(of.weight), floats(of.of_sources),
                       floats(of.of_destinations)});
    }
    auto launch = launches_.begin(gradients.front());
    kernels::device::gat_parameter_gradients(launch.executor, tasks.data(), static_cast<int>(tasks.size()));
    return made;
  }

  GatResultTensors attend(const GatAttentionSpec& spec, const at::Tensor& projection,
                          const at::Tensor& bias) const override {
    const auto& block = *spec.block;
    const auto rows = block.num_destinations();
    const auto make = [&](std::int64_t of, std::int64_t columns) {
      return at::empty({of, columns}, projection.options());
    };
    const GatResultTensors made{make(block.num_edges() + rows, spec.heads.count),
                                make(rows, spec.heads.count), make(rows, bias.size(0)),
                                make(rows, bias.size(0))};
    const auto attention = attention_of(spec, projection);
    auto launch = launches_.begin(projection);
    kernels::device::attend_gat(launch.executor, attention, numbers(bias), pointers_of(made));
    return made;
  }

  Gradients attend_gradient(const GatAttentionSpec& spec, const at::Tensor& projection,
                            const GatResultTensors& results, const at::Tensor& gradient) const override {
    const auto& block = *spec.block;
    Gradients made{at::empty_like(projection), at::empty({gradient.size(1)}, gradient.options())};
    const auto attention = attention_of(spec, projection);
    const auto& transposed = block.transposed();
    const kernels::device::SparseRows sources{block.num_sources(), block.num_edges(),
                                              transposed.indptr.template const_data_ptr<std::int64_t>(),
                                              transposed.destinations.template const_data_ptr<std::int32_t>(),
                                              transposed.edges.template const_data_ptr<std::int32_t>()};
    auto launch = launches_.begin(projection);
    kernels::device::attend_gat_gradient(launch.executor, attention, sources, pointers_of(results),
                                         numbers(gradient), floats(made.projection), floats(made.bias));
    return made;
  }

 private:
  static float* floats(const at::Tensor& tensor) { return tensor.template mutable_data_ptr<float>(); }
  static const float* numbers(const at::Tensor& tensor) { return tensor.template const_data_ptr<float>(); }
  static kernels::device::GatLayer layer_of(const GatParameters& layer) {
    return {{layer.of_sources.size(0), layer.of_sources.size(1)},
            layer.weight.size(0),
            numbers(layer.weight),
            numbers(layer.of_sources),
            numbers(layer.of_destinations)};
  }
  static kernels::device::GatResults pointers_of(const GatResultTensors& results) {
    return {floats(results.exponentials), floats(results.scales), floats(results.sums), floats(results.out)};
  }
  static kernels::device::GatAttention attention_of(const GatAttentionSpec& spec,
                                                    const at::Tensor& projection) {
    const auto& mask = spec.mask;
    const auto& loops = spec.block->transposed().loops;
    return {{device_rows(*spec.block), loops.template const_data_ptr<std::int64_t>()},
            spec.heads,
            numbers(projection),
            {mask.bits.defined() ? mask.bits.template const_data_ptr<std::uint8_t>() : nullptr,
             mask.rule.scale()},
            spec.activation};
  }

  Launches launches_;
};

}  // namespace gnomon::nn
