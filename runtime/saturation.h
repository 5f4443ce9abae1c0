#pragma once

#include <span>

namespace gnomon::runtime {

/// What kernels that occupy a share of a device's multiprocessors read over the link.
struct ShareBandwidth {
  double share = 1;
  double bytes_per_s = 0;
};

/// The least share that reads at least `enough` of what the best of them does; 0 without any.
double saturation_share(std::span<const ShareBandwidth> measured, double enough = 0.95);

}  // namespace gnomon::runtime
