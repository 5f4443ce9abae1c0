#include "nn/sparse/sparse_kernels.h"

#include "nn/cuda/kernels.h"

namespace gnomon::nn {

const SparseKernels& sparse_kernels(at::Device device) {
  TORCH_CHECK(device.is_cpu() || device.is_cuda(), "sparse kernels do not support ", device);
  return device.is_cpu() ? cpu_sparse_kernels() : cuda_sparse_kernels();
}

}  // namespace gnomon::nn
