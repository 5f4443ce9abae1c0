#include "nn/graphs/launch_graph.h"

#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <exception>
#include <memory>
#include <optional>

#include "nn/cuda/kernels.h"

namespace gnomon::nn {
namespace {

/// By LibTorch's graphs, whose memory is a pool of the caching allocator that nobody else takes from.
class CudaLaunchGraph final : public LaunchGraph {
 public:
  ~CudaLaunchGraph() override {
    try {
      if (stream_) {
        stream_->synchronize();
      }
    } catch (const std::exception&) {
      // The GPU has failed: it reads nothing any more.
    }
  }

  /// On a stream of its own, as the default stream cannot be recorded, of the current one's priority, which
  /// the kernels keep in replays. Other threads may allocate meanwhile: the mode forbids it to this one only.
  ///
  /// cuBLAS's workspaces are cleared before, so that replays get one in the graph's pool, and after, so that
  /// nothing else uses it. Cached memory is released before, as the allocator cannot do so while it records.
  void record(const std::function<void()>& act) override {
    const bool is_urgent = c10::cuda::getCurrentCUDAStream().priority() < 0;
    const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool(is_urgent));
    at::cuda::clearCublasWorkspaces();
    c10::cuda::CUDACachingAllocator::emptyCache();
    graph_.capture_begin(/*pool=*/{0, 0}, cudaStreamCaptureModeThreadLocal);
    try {
      act();
    } catch (...) {
      end_failed();
      throw;
    }
    graph_.capture_end();
    at::cuda::clearCublasWorkspaces();
  }
  void replay() override {
    stream_ = c10::cuda::getCurrentCUDAStream();
    graph_.replay();
  }

 private:
  /// The stream must leave the capture, which may have become invalid.
  void end_failed() noexcept {
    try {
      graph_.capture_end();
    } catch (const std::exception&) {
      // What went wrong first is told.
    }
  }

  at::cuda::CUDAGraph graph_;
  std::optional<c10::cuda::CUDAStream> stream_;  ///< of the last replay
};

}  // namespace

std::unique_ptr<LaunchGraph> cuda_launch_graph() { return std::make_unique<CudaLaunchGraph>(); }

}  // namespace gnomon::nn
