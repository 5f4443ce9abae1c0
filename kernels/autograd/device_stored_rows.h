#pragma once

#include <ATen/ATen.h>

#include <utility>

#include "kernels/autograd/stored_rows.h"
#include "kernels/device/stored.h"

namespace gnomon::kernels::autograd {

/// Rows that a device reads. `Launches` as DeviceSparseKernels takes it; the kernels are declared where this
/// is instantiated. The memory behind `rows` must outlive it.
template <class Launches>
class DeviceStoredRows final : public StoredRows {
 public:
  DeviceStoredRows(const device::Rows& rows, graph::FeatureType type, std::int64_t columns,
                   at::Tensor vertices, Launches launches = {})
      : vertices_(std::move(vertices)), launches_(std::move(launches)) {
    stored_.rows = rows;
    stored_.element = type == graph::FeatureType::fp32 ? device::Element::fp32 : device::Element::fp16;
    stored_.columns = columns;
    stored_.vertices = vertices_.const_data_ptr<std::int64_t>();
  }

  std::int64_t size(int dimension) const override {
    return dimension == 0 ? vertices_.size(0) : stored_.columns;
  }
  at::Device device() const override { return vertices_.device(); }

  at::Tensor spmm(const SparseBlock& block, const at::Tensor& row_scale, const at::Tensor& column_scale,
                  const DropoutRule& rule) const override {
    auto y = at::empty({block.num_destinations(), stored_.columns}, vertices_.options().dtype(at::kFloat));
    auto launch = launches_.begin(y);
    at::Tensor bits;
    KeptElements kept;
    if (rule.threshold > 0) {
      const std::int64_t elements = block.num_sources() * stored_.columns;
      bits = at::empty({kept_bytes(elements)}, vertices_.options().dtype(at::kByte));
      device::kept_elements(launch.executor, rule, elements, bits.template mutable_data_ptr<std::uint8_t>());
      kept = {bits.template const_data_ptr<std::uint8_t>(), rule.scale()};
    }
    const device::SparseRows rows{block.num_destinations(), block.num_edges(),
                                  block.indptr().template const_data_ptr<std::int64_t>(),
                                  block.indices().template const_data_ptr<std::int32_t>(), nullptr};
    device::spmm_stored(launch.executor, rows, device::Scales{values(row_scale), values(column_scale)},
                        stored_, kept, y.template mutable_data_ptr<float>());
    return y;
  }

  void read(std::int64_t first, const DropoutRule& rule, at::Tensor& out) const override {
    auto launch = launches_.begin(out);
    device::read_stored(launch.executor, stored_, rule, first, out.size(0),
                        out.template mutable_data_ptr<float>());
  }

 private:
  static const float* values(const at::Tensor& tensor) {
    return tensor.defined() ? tensor.const_data_ptr<float>() : nullptr;
  }

  at::Tensor vertices_;
  device::StoredRows stored_;
  Launches launches_;
};

}  // namespace gnomon::kernels::autograd
