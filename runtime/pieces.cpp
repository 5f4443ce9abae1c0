#include "runtime/pieces.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#ifndef INTRA_OP_PARALLEL
#error "at::parallel_for is serial in this file: compile it with -fopenmp"
#endif

namespace gnomon::runtime {

void for_each_piece(std::int64_t count, std::int64_t piece,
                    const std::function<void(std::int64_t begin, std::int64_t length)>& body) {
  const std::int64_t pieces = (count + piece - 1) / piece;
  const auto run = [&](std::int64_t first, std::int64_t last) {
    const at::NoGradGuard no_grad;  // thread-local, so here and not outside
    for (std::int64_t i = first; i < last; ++i) {
      body(i * piece, std::min(piece, count - i * piece));
    }
  };
  if (pieces == 1) {
    // at::parallel_for would open no parallel region, and the libraries below would take their own threads.
    const AtenThreads one_thread(1);
    run(0, 1);
  } else if (pieces > 1) {
    at::parallel_for(0, pieces, 1, run);
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
