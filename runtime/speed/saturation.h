#pragma once

#include <functional>
#include <optional>
#include <span>

namespace gnomon::runtime {

/// The bandwidth of kernels that read over the link on a share of a device's thread slots.
struct ShareBandwidth {
  double share = 1;
  double bytes_per_s = 0;
};

/// Returns the smallest share that reaches at least `enough` times the best bandwidth; none without
/// measurements or without data read.
std::optional<double> saturation_share(std::span<const ShareBandwidth> measured, double enough = 0.95);

/// Calls saturation_share for shares of 1, 2, 4 … 64 sixty-fourths of the thread slots, measured by
/// bytes_per_s(share).
std::optional<double> find_saturation_share(const std::function<double(double share)>& bytes_per_s);

}  // namespace gnomon::runtime
