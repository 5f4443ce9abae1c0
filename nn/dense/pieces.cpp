#include "nn/dense/pieces.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <atomic>

#ifndef INTRA_OP_PARALLEL
#error "at::parallel_for is serial in this file: compile it with -fopenmp"
#endif

/// MKL's, of a LibTorch that has it: how many threads products of the calling thread take from now on (0: as
/// many as all others); returns how many they took.
extern "C" int MKL_Set_Num_Threads_Local(int threads) __attribute__((weak));

namespace gnomon::nn {
namespace {

/// A product that is meant for several threads adds up in another order than that of one, even where it finds
/// only one to run on; which products do differs from processor to processor.
class OneThreadAProduct {
 public:
  OneThreadAProduct() : before_(MKL_Set_Num_Threads_Local == nullptr ? 0 : MKL_Set_Num_Threads_Local(1)) {}
  ~OneThreadAProduct() {
    if (MKL_Set_Num_Threads_Local != nullptr) {
      MKL_Set_Num_Threads_Local(before_);
    }
  }
  OneThreadAProduct(const OneThreadAProduct&) = delete;
  OneThreadAProduct& operator=(const OneThreadAProduct&) = delete;

 private:
  int before_;
};

}  // namespace

void for_each_piece(std::int64_t count, std::int64_t piece,
                    const std::function<void(std::int64_t begin, std::int64_t length)>& body) {
  const std::int64_t pieces = (count + piece - 1) / piece;
  std::atomic<std::int64_t> next{0};
  // Each thread takes the next piece when it is done with one: none waits for a slower one.
  const auto take_pieces = [&](std::int64_t, std::int64_t) {
    const at::NoGradGuard no_grad;  // thread-local, so here and not outside
    const OneThreadAProduct one_thread;
    for (std::int64_t i = next++; i < pieces; i = next++) {
      body(i * piece, std::min(piece, count - i * piece));
    }
  };
  const std::int64_t threads = std::min<std::int64_t>(pieces, at::get_num_threads());
  if (threads == 1) {
    // at::parallel_for would open no parallel region, and the libraries below would take their own threads.
    const AtenThreads one_thread(1);
    take_pieces(0, 1);
  } else if (threads > 1) {
    at::parallel_for(0, threads, 1, take_pieces);
  }
}

AtenThreads::AtenThreads(int threads) : before_(at::get_num_threads()) {
  if (threads != before_) {
    at::set_num_threads(threads);
  }
}

AtenThreads::~AtenThreads() {
  if (at::get_num_threads() != before_) {
    at::set_num_threads(before_);
  }
}

}  // namespace gnomon::nn
