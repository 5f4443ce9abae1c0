#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace gnomon::base {

/// Progress callback of a long task: the current step, the finished and the total number of items (0 if
/// unknown). It is called often, from one thread at a time, and must be cheap. An empty function is allowed.
using Progress = std::function<void(std::string_view what, std::int64_t done, std::int64_t total)>;

inline void report(const Progress& progress, std::string_view what, std::int64_t done, std::int64_t total) {
  if (progress) {
    progress(what, done, total);
  }
}

}  // namespace gnomon::base
