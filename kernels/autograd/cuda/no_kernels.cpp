#include "base/error.h"
#include "kernels/autograd/cuda/kernels.h"

namespace gnomon::kernels::autograd {
namespace {

[[noreturn]] void refuse() {
  throw base::Failure("CUDA", "this program was built without LibTorch's CUDA libraries");
}

}  // namespace

const SparseKernels& cuda_sparse_kernels() { refuse(); }
void cuda_dropout(const DropoutRule&, const at::Tensor&, at::Tensor&) { refuse(); }
void cuda_relu_dropout(const DropoutRule&, const at::Tensor&, at::Tensor&) { refuse(); }

}  // namespace gnomon::kernels::autograd
