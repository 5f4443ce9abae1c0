#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>

#include "base/team.h"

namespace gnomon::graph {

/// A thread pool for long tasks on graph data. Its threads block between two calls of for_each(), so several
/// pools may exist while one of them works.
class Workers {
 public:
  /// `threads` is 0 for all cores that this process may use.
  explicit Workers(int threads = 0);

  int count() const { return team_.size(); }

  /// Calls body(0) … body(pieces - 1), each once, several at a time, and returns when all have returned.
  /// Pieces begin in ascending order. After an exception no further piece begins; rethrows that of the lowest
  /// piece, which does not depend on timing.
  template <class Body>
  void for_each(std::int64_t pieces, Body&& body) {
    std::atomic<std::int64_t> next{0};
    Fault fault;
    const auto work = [&](int) {
      for (std::int64_t piece = next++; piece < pieces && !fault.any(); piece = next++) {
        try {
          body(piece);
        } catch (...) {
          fault.set(piece, std::current_exception());
        }
      }
    };
    if (pieces == 1) {
      body(0);
      return;
    }
    team_.step(work);
    team_.park();
    fault.rethrow();
  }

 private:
  /// The exception of the lowest piece that threw.
  class Fault {
   public:
    bool any() const { return any_.load(std::memory_order_relaxed); }
    void set(std::int64_t piece, std::exception_ptr error) {
      const std::scoped_lock lock(mutex_);
      if (piece < piece_) {
        piece_ = piece;
        error_ = std::move(error);
      }
      any_ = true;
    }
    void rethrow() const {
      if (error_) {
        std::rethrow_exception(error_);
      }
    }

   private:
    std::atomic<bool> any_{false};
    std::mutex mutex_;
    std::int64_t piece_ = std::numeric_limits<std::int64_t>::max();
    std::exception_ptr error_;
  };

  base::Team team_;
};

}  // namespace gnomon::graph
