#pragma once

#include <cstddef>
#include <functional>

namespace gnomon::runtime {

/// Returns the bandwidth of the fastest of ten copies of `bytes`, after a warm-up copy. `seconds()` copies
/// once and returns the duration.
double best_bandwidth(std::size_t bytes, const std::function<double()>& seconds);

}  // namespace gnomon::runtime
