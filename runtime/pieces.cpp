#include "runtime/pieces.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <atomic>

#ifndef INTRA_OP_PARALLEL
#error "at::parallel_for is serial in this file: compile it with -fopenmp"
#endif

namespace gnomon::runtime {

void for_each_piece(std::int64_t count, std::int64_t piece,
                    const std::function<void(std::int64_t begin, std::int64_t length)>& body) {
  const std::int64_t pieces = (count + piece - 1) / piece;
  std::atomic<std::int64_t> next{0};
  // Each thread takes the next piece when it is done with one: none waits for a slower one.
  const auto take_pieces = [&](std::int64_t, std::int64_t) {
    const at::NoGradGuard no_grad;  // thread-local, so here and not outside
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

}  // namespace gnomon::runtime
