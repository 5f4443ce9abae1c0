#pragma once

#include <cstddef>
#include <functional>

namespace gnomon::runtime {

/// Bytes per second of the fastest of ten copies of `bytes`, after one that warms up. `seconds()` copies once
/// and returns the duration.
double best_bandwidth(std::size_t bytes, const std::function<double()>& seconds);

}  // namespace gnomon::runtime
