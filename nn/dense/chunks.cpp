#include "nn/dense/chunks.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <atomic>

#ifndef INTRA_OP_PARALLEL
#error "at::parallel_for is serial in this file: compile it with -fopenmp"
#endif

/// MKL's function that sets the number of threads of the calling thread's GEMMs (0 for the global setting)
/// and returns the previous one. Null if LibTorch was built without MKL.
extern "C" int MKL_Set_Num_Threads_Local(int threads) __attribute__((weak));

namespace gnomon::nn {
namespace {

/// Guard that makes GEMMs single-threaded. Multithreaded GEMM changes the summation order even when only one
/// thread runs, for shapes that depend on the processor.
class SingleThreadedGemm {
 public:
  SingleThreadedGemm() : previous_(MKL_Set_Num_Threads_Local == nullptr ? 0 : MKL_Set_Num_Threads_Local(1)) {}
  ~SingleThreadedGemm() {
    if (MKL_Set_Num_Threads_Local != nullptr) {
      MKL_Set_Num_Threads_Local(previous_);
    }
  }
  SingleThreadedGemm(const SingleThreadedGemm&) = delete;
  SingleThreadedGemm& operator=(const SingleThreadedGemm&) = delete;

 private:
  int previous_;
};

}  // namespace

void for_each_chunk(std::int64_t count, std::int64_t chunk_size,
                    const std::function<void(std::int64_t begin, std::int64_t length)>& body) {
  const std::int64_t num_chunks = (count + chunk_size - 1) / chunk_size;
  std::atomic<std::int64_t> next{0};
  // Dynamic scheduling: each thread takes the next chunk when it has finished one.
  const auto run_chunks = [&](std::int64_t, std::int64_t) {
    const at::NoGradGuard no_grad;  // thread-local, therefore set in every thread
    const SingleThreadedGemm single_threaded;
    for (std::int64_t i = next++; i < num_chunks; i = next++) {
      body(i * chunk_size, std::min(chunk_size, count - i * chunk_size));
    }
  };
  const std::int64_t threads = std::min<std::int64_t>(num_chunks, at::get_num_threads());
  if (threads == 1) {
    // at::parallel_for would not open a parallel region, so libraries called by `body` would start their own
    // threads.
    const AtenThreadsGuard one_thread(1);
    run_chunks(0, 1);
  } else if (threads > 1) {
    at::parallel_for(0, threads, 1, run_chunks);
  }
}

AtenThreadsGuard::AtenThreadsGuard(int threads) : previous_(at::get_num_threads()) {
  if (threads != previous_) {
    at::set_num_threads(threads);
  }
}

AtenThreadsGuard::~AtenThreadsGuard() {
  if (at::get_num_threads() != previous_) {
    at::set_num_threads(previous_);
  }
}

}  // namespace gnomon::nn
