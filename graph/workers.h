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

  /// Calls body(0) … body(chunks - 1), each once, several at a time, and returns when all have returned.
  /// Chunks begin in ascending order. After an exception no higher chunk begins; rethrows that of the lowest
  /// chunk, which does not depend on timing.
  template <class Body>
  void for_each(std::int64_t chunks, Body&& body) {
    std::atomic<std::int64_t> next{0};
    Fault fault;
    const auto work = [&](int) {
      for (std::int64_t chunk = next++; chunk < chunks && chunk < fault.chunk(); chunk = next++) {
        try {
          body(chunk);
        } catch (...) {
          fault.set(chunk, std::current_exception());
        }
      }
    };
    if (chunks == 1) {
      body(0);
      return;
    }
    team_.step(work);
    team_.park();
    fault.rethrow();
  }

 private:
  /// The exception of the lowest chunk that threw.
  class Fault {
   public:
    /// That chunk, or more than any. Lower ones that have been taken still have to run.
    std::int64_t chunk() const { return chunk_.load(std::memory_order_relaxed); }
    void set(std::int64_t chunk, std::exception_ptr error) {
      const std::scoped_lock lock(mutex_);
      if (chunk < chunk_) {
        chunk_ = chunk;
        error_ = std::move(error);
      }
    }
    void rethrow() const {
      if (error_) {
        std::rethrow_exception(error_);
      }
    }

   private:
    std::mutex mutex_;
    std::atomic<std::int64_t> chunk_ = std::numeric_limits<std::int64_t>::max();
    std::exception_ptr error_;
  };

  base::Team team_;
};

}  // namespace gnomon::graph
