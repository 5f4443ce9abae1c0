#pragma once

#include <ATen/ATen.h>

#include <utility>

#include "kernels/device/gcn.h"
#include "kernels/device/stored.h"
#include "nn/sparse/device_sparse_kernels.h"
#include "nn/sparse/stored_features.h"

namespace gnomon::nn {

/// Stored rows that a device reads. `Launches` is as in DeviceSparseKernels; the kernels must be declared
/// where this template is instantiated. The memory behind `rows` must outlive it.
template <class Launches>
class DeviceStoredFeatures final : public StoredFeatures {
 public:
  DeviceStoredFeatures(const kernels::device::Rows& rows, graph::FeatureType type, std::int64_t columns,
                       at::Tensor vertices, Launches launches = {})
      : vertices_(std::move(vertices)), launches_(std::move(launches)) {
    stored_.rows = rows;
    stored_.element = element_of(type);
    stored_.columns = columns;
    stored_.vertices = vertices_.const_data_ptr<std::int64_t>();
  }

  std::int64_t size(int dimension) const override {
    return dimension == 0 ? vertices_.size(0) : stored_.columns;
  }
  at::Device device() const override { return vertices_.device(); }

  at::Tensor spmm(const SparseBlock& block, const at::Tensor& row_scale, const at::Tensor& column_scale,
                  const kernels::DropoutRule& rule) const override {
    auto y = at::empty({block.num_destinations(), stored_.columns}, vertices_.options().dtype(at::kFloat));
    auto launch = launches_.begin(y);
    const Mask mask(launch.executor, vertices_.options(), rule, block.num_sources() * stored_.columns);
    kernels::device::spmm_stored(launch.executor, device_rows(block),
                                 kernels::device::Scales{values(row_scale), values(column_scale)}, stored_,
                                 mask.kept, y.template mutable_data_ptr<float>());
    return y;
  }

  at::Tensor own_and_mean(const SparseBlock& block, const kernels::DropoutRule& rule) const override {
    auto y =
        at::empty({block.num_destinations(), 2 * stored_.columns}, vertices_.options().dtype(at::kFloat));
    auto launch = launches_.begin(y);
    const Mask mask(launch.executor, vertices_.options(), rule, block.num_sources() * stored_.columns);
    kernels::device::own_and_mean_stored(launch.executor, device_rows(block), stored_, mask.kept,
                                         y.template mutable_data_ptr<float>());
    return y;
  }

  at::Tensor gcn_propagate(const SparseBlock& block, const at::Tensor& degrees,
                           const kernels::DropoutRule& rule) const override {
    auto y = at::empty({block.num_destinations(), stored_.columns}, vertices_.options().dtype(at::kFloat));
    auto launch = launches_.begin(y);
    const Mask mask(launch.executor, vertices_.options(), rule, block.num_sources() * stored_.columns);
    kernels::device::gcn_propagate_stored(launch.executor, device_rows(block), values(degrees), stored_,
                                          mask.kept, y.template mutable_data_ptr<float>());
    return y;
  }

  void read(std::int64_t first, const kernels::DropoutRule& rule, at::Tensor& out) const override {
    auto launch = launches_.begin(out);
    kernels::device::read_stored(launch.executor, stored_, rule, first, out.size(0),
                                 out.template mutable_data_ptr<float>());
  }

  void read_rows(const at::Tensor& rows, at::Tensor& out) const override {
    const auto vertices = vertices_.index_select(0, rows);
    auto chosen = stored_;
    chosen.vertices = vertices.const_data_ptr<std::int64_t>();
    auto launch = launches_.begin(out);
    kernels::device::read_stored(launch.executor, chosen, kernels::DropoutRule{}, 0, out.size(0),
                                 out.template mutable_data_ptr<float>());
  }

 private:
  static kernels::device::Element element_of(graph::FeatureType type) {
    switch (type) {
      case graph::FeatureType::fp16:
        return kernels::device::Element::fp16;
      case graph::FeatureType::bf16:
        return kernels::device::Element::bf16;
      case graph::FeatureType::fp32:
        break;
    }
    return kernels::device::Element::fp32;
  }

  /// The keep mask of a rule; none if it drops nothing.
  struct Mask {
    template <class Executor>
    Mask(Executor& executor, const at::TensorOptions& options, const kernels::DropoutRule& rule,
         std::int64_t elements) {
      if (rule.threshold > 0) {
        bits = at::empty({kernels::kept_bytes(elements)}, options.dtype(at::kByte));
        kernels::device::kept_elements(executor, rule, elements,
                                       bits.template mutable_data_ptr<std::uint8_t>());
        kept = {bits.template const_data_ptr<std::uint8_t>(), rule.scale()};
      }
    }
    at::Tensor bits;
    kernels::KeptElements kept;
  };

  at::Tensor vertices_;
  kernels::device::StoredRows stored_;
  Launches launches_;
};

}  // namespace gnomon::nn
