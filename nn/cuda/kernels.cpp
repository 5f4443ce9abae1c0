#include "nn/cuda/kernels.h"

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <memory>
#include <utility>

#include "kernels/cuda/cross_entropy.h"
#include "kernels/cuda/draws.h"
#include "kernels/cuda/dropout.h"
#include "kernels/cuda/gat.h"
#include "kernels/cuda/gcn.h"
#include "kernels/cuda/padding.h"
#include "kernels/cuda/sparse.h"
#include "kernels/cuda/stored.h"
#include "nn/device_dense.h"
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

}  // namespace gnomon::nn

#include "nn/cuda/kernels-inl.h"
