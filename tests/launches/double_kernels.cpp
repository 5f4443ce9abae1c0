#include "tests/launches/double_kernels.h"

#include "kernels/device/cross_entropy-inl.h"
#include "kernels/device/dropout-inl.h"
#include "kernels/device/gat-inl.h"
#include "kernels/device/gcn-inl.h"
#include "kernels/device/padding-inl.h"
#include "kernels/device/sparse-inl.h"
#include "kernels/device/stored-inl.h"
#include "nn/cuda/kernels.h"
#include "nn/device_dense.h"
#include "nn/sparse/device_sparse_kernels.h"
#include "nn/sparse/device_stored_features.h"
#include "tests/kernels/sparse/host_sparse_kernels.h"

namespace gnomon::kernels {

/// As CUB's radix sort of 8 bits a pass: two memsets, a histogram and its sum, and for each pass a memset and
/// a kernel.
inline void sort_by_key(CountingExecutor& executor, std::int32_t max_key, std::int64_t count,
                        const std::int32_t* keys, std::int32_t* sorted_keys, const std::int32_t* values,
                        std::int32_t* sorted_values) {
  std::int64_t passes = 1;
  while ((max_key >> (8 * passes)) > 0) {
    ++passes;
  }
  executor.launch(4 + 2 * passes, [=](HostExecutor& host) {
    sort_by_key(host, max_key, count, keys, sorted_keys, values, sorted_values);
  });
}

}  // namespace gnomon::kernels

namespace gnomon::nn {
namespace {

struct Counts {
  std::atomic<std::int64_t> launches{0};
  std::atomic<std::uint64_t> begun{0};
};

Counts& counts() {
  static Counts all;
  return all;
}

struct Launches {
  struct Launch {
    kernels::CountingExecutor executor;
  };
  static Launch begin(const at::Tensor&) {
    return {kernels::CountingExecutor(counts().launches, ++counts().begun)};
  }
};

}  // namespace

std::string why_no_cuda() { return "the double device has no CUDA"; }

std::unique_ptr<LaunchGraph> cuda_launch_graph() {
  return std::make_unique<test::Recording>(counts().launches);
}

}  // namespace gnomon::nn

#include "nn/cuda/kernels-inl.h"

namespace gnomon::test {

std::int64_t take_kernels() { return nn::counts().launches.exchange(0); }

}  // namespace gnomon::test
