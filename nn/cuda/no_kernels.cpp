#include "base/error.h"
#include "nn/cuda/kernels.h"

namespace gnomon::nn {
namespace {

[[noreturn]] void refuse() { throw base::Failure("CUDA", why_no_cuda()); }

}  // namespace

std::string why_no_cuda() { return "this program was built without LibTorch's CUDA libraries"; }

const SparseKernels& cuda_sparse_kernels() { refuse(); }
at::Tensor cuda_dropout(const kernels::DropoutRule&, const at::Tensor&) { refuse(); }
at::Tensor cuda_relu_dropout(const kernels::DropoutRule&, const at::Tensor&) { refuse(); }
StoredRowsPtr cuda_stored_rows(const kernels::device::Rows&, graph::FeatureType, std::int64_t, at::Tensor) {
  refuse();
}

}  // namespace gnomon::nn
