#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace gnomon::base {

/// Told how far a long task is: what it does now, how much of how much (total 0 when not known). Called from
/// one thread, often; must be cheap. An empty function means nobody listens.
using Progress = std::function<void(std::string_view what, std::int64_t done, std::int64_t total)>;

inline void report(const Progress& progress, std::string_view what, std::int64_t done, std::int64_t total) {
  if (progress) {
    progress(what, done, total);
  }
}

}  // namespace gnomon::base
