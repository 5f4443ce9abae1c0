#include "runtime/saturation.h"

#include <algorithm>

namespace gnomon::runtime {

double saturation_share(std::span<const ShareBandwidth> measured, double enough) {
  double best = 0;
  for (const auto& each : measured) {
    best = std::max(best, each.bytes_per_s);
  }
  double least = 0;
  for (const auto& each : measured) {
    if (best > 0 && each.bytes_per_s >= enough * best && (least == 0 || each.share < least)) {
      least = each.share;
    }
  }
  return least;
}

}  // namespace gnomon::runtime
