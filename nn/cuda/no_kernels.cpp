#include "base/error.h"
#include "nn/cuda/kernels.h"

namespace gnomon::nn {
namespace {

[[noreturn]] void throw_no_cuda() { throw base::Failure("CUDA", why_no_cuda()); }

}  // namespace

std::string why_no_cuda() { return "this program was built without LibTorch's CUDA libraries"; }

const SparseKernels& cuda_sparse_kernels() { throw_no_cuda(); }
at::Tensor cuda_dropout(const kernels::DropoutRule&, const at::Tensor&) { throw_no_cuda(); }
at::Tensor cuda_relu_dropout(const kernels::DropoutRule&, const at::Tensor&) { throw_no_cuda(); }
at::Tensor cuda_relu_dropout_gradient(float, const at::Tensor&, const at::Tensor&) { throw_no_cuda(); }
at::Tensor cuda_cross_entropy(const at::Tensor&, const StepTargets&, const at::Tensor&, const at::Tensor&) {
  throw_no_cuda();
}
at::Tensor cuda_cross_entropy(const at::Tensor&, const StepTargets&, const kernels::device::StepState*) {
  throw_no_cuda();
}
void cuda_copy_padded(const std::vector<kernels::device::PaddedCopy>&, const kernels::device::StepState&,
                      const at::Tensor&) {
  throw_no_cuda();
}
std::unique_ptr<LaunchGraph> cuda_launch_graph() { throw_no_cuda(); }
// That of a build with CUDA keeps the tensor.
StoredFeaturesPtr cuda_stored_features(const kernels::device::Rows&, graph::FeatureType, std::int64_t,
                                       at::Tensor) {  // NOLINT(performance-unnecessary-value-param)
  throw_no_cuda();
}

}  // namespace gnomon::nn
