#include "nn/sparse/sparse_kernels.h"

#include <ATen/ATen.h>

#include "nn/cuda/kernels.h"
#include "nn/sparse/sparse_block.h"

namespace gnomon::nn {

at::Tensor SparseKernels::own_and_mean(const SparseBlock& block, const at::Tensor& x) const {
  return at::cat({x.narrow(0, 0, block.num_destinations()),
                  spmm(block, RowsOf::destinations, inverse_degrees(block), {}, x)},
                 1);
}

at::Tensor SparseKernels::own_and_mean_gradient(const SparseBlock& block, const at::Tensor& gradient) const {
  const auto width = gradient.size(1) / 2;
  auto of_x =
      spmm(block, RowsOf::sources, {}, inverse_degrees(block), gradient.narrow(1, width, width).contiguous());
  of_x.narrow(0, 0, block.num_destinations()).add_(gradient.narrow(1, 0, width));
  return of_x;
}

at::Tensor SparseKernels::gcn_propagate(const SparseBlock&, const at::Tensor&, const at::Tensor&) const {
  TORCH_CHECK(false, "only kernels of devices fuse the propagation of GCN");
}

at::Tensor SparseKernels::gcn_propagate_gradient(const SparseBlock&, const at::Tensor&,
                                                 const at::Tensor&) const {
  TORCH_CHECK(false, "only kernels of devices fuse the propagation of GCN");
}

std::vector<TransposedTensors> SparseKernels::transpose_together(const std::vector<SparseBlockPtr>& blocks,
                                                                 bool with_loops) const {
  std::vector<TransposedTensors> transposed;
  for (const auto& block : blocks) {
    transposed.push_back(transpose(*block));
    if (with_loops) {
      transposed.back().loops = missing_loops(*block);
    }
  }
  return transposed;
}

at::Tensor SparseKernels::missing_loops(const SparseBlock&) const {
  TORCH_CHECK(false, "only kernels of devices count missing self-loops");
}

const SparseKernels& sparse_kernels(at::Device device) {
  TORCH_CHECK(device.is_cpu() || device.is_cuda(), "sparse kernels do not support ", device);
  return device.is_cpu() ? cpu_sparse_kernels() : cuda_sparse_kernels();
}

}  // namespace gnomon::nn
