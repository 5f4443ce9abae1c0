#include "nn/cuda/kernels.h"

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <memory>
#include <utility>

#include "kernels/cuda/draws.h"
#include "kernels/cuda/dropout.h"
#include "kernels/cuda/metrics.h"
#include "kernels/cuda/sparse.h"
#include "kernels/cuda/stored.h"
#include "nn/sparse/device_sparse_kernels.h"
#include "nn/sparse/device_stored_features.h"

namespace gnomon::nn {
namespace {

/// Allocates from LibTorch's caching allocator, which reuses the memory on the same stream only, in stream
/// order.
std::shared_ptr<void> allocate(std::size_t bytes) {
  const auto memory =
      at::empty({static_cast<std::int64_t>(bytes)}, at::TensorOptions(at::kByte).device(at::kCUDA));
  return {memory.data_ptr(), [memory](void*) {}};
}

/// Runs one operation on a device's current stream. The device is the current one during its lifetime.
struct Launch {
  explicit Launch(at::Device device)
      : guard(device), executor(c10::cuda::getCurrentCUDAStream(device.index()).stream(), allocate) {}
  c10::cuda::CUDAGuard guard;
  kernels::cuda::Executor executor;
};

struct Launches {
  static Launch begin(const at::Tensor& on) { return Launch(on.device()); }
};

}  // namespace

std::string why_no_cuda() { return kernels::cuda::why_no_device(); }

const SparseKernels& cuda_sparse_kernels() {
  static const DeviceSparseKernels<Launches> kernels;
  return kernels;
}

at::Tensor cuda_dropout(const kernels::DropoutRule& rule, const at::Tensor& x) {
  auto out = at::empty_like(x);
  auto launch = Launches::begin(x);
  kernels::device::dropout(launch.executor, rule, x.numel(), x.const_data_ptr<float>(),
                           out.mutable_data_ptr<float>());
  return out;
}

at::Tensor cuda_relu_dropout(const kernels::DropoutRule& rule, const at::Tensor& x) {
  auto out = at::empty_like(x);
  auto launch = Launches::begin(x);
  kernels::device::relu_dropout(launch.executor, rule, x.numel(), x.const_data_ptr<float>(),
                                out.mutable_data_ptr<float>());
  return out;
}

void cuda_add_metrics(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& mean_loss,
                      const at::Tensor& sums) {
  auto launch = Launches::begin(logits);
  kernels::device::add_metrics(
      launch.executor,
      kernels::device::StepOutputs{logits.const_data_ptr<float>(), labels.const_data_ptr<std::int64_t>(),
                                   mean_loss.const_data_ptr<float>(), logits.size(0), logits.size(1)},
      reinterpret_cast<kernels::device::MetricSums*>(sums.mutable_data_ptr<std::uint8_t>()));
}

StoredFeaturesPtr cuda_stored_features(const kernels::device::Rows& rows, graph::FeatureType type,
                                       std::int64_t columns, at::Tensor vertices) {
  return std::make_shared<const DeviceStoredFeatures<Launches>>(rows, type, columns, std::move(vertices));
}

}  // namespace gnomon::nn
