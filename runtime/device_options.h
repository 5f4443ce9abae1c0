#pragma once

#include <cstdint>
#include <string>

namespace gnomon::runtime {

/// What to train on.
struct DeviceOptions {
  bool gpu = false;             ///< the first GPU, not the host
  std::int64_t most_bytes = 0;  ///< of its memory; 0: all there are
};

/// Why there is no GPU to train on, as one line; empty when there is one.
std::string why_no_gpu();

}  // namespace gnomon::runtime
