#include "runtime/speed/saturation.h"

#include <algorithm>
#include <vector>

namespace gnomon::runtime {

std::optional<double> saturation_share(std::span<const ShareBandwidth> measured, double enough) {
  double best = 0;
  for (const auto& each : measured) {
    best = std::max(best, each.bytes_per_s);
  }
  std::optional<double> smallest;
  for (const auto& each : measured) {
    if (best > 0 && each.bytes_per_s >= enough * best && each.share < smallest.value_or(2)) {
      smallest = each.share;
    }
  }
  return smallest;
}

std::optional<double> find_saturation_share(const std::function<double(double share)>& bytes_per_s) {
  constexpr int parts = 64;
  std::vector<ShareBandwidth> measured;
  for (int part = 1; part <= parts; part *= 2) {
    const double share = static_cast<double>(part) / parts;
    measured.push_back({share, bytes_per_s(share)});
  }
  return saturation_share(measured);
}

}  // namespace gnomon::runtime
