#include "profiles/measure/slowdown.h"

#include <algorithm>

namespace gnomon::profiles {
namespace {

/// Upper bound of the slowdown by one neighbour on a core of its own.
constexpr double largest_slowdown = 10;

}  // namespace

void Slowdown::add(double alone_s, const schedule::StageSpan& span,
                   std::span<const schedule::StageSpan> beside) {
  double overlapped_s = 0;
  for (const auto& other : beside) {
    overlapped_s += std::max(0.0, std::min(span.end_s, other.end_s) - std::max(span.begin_s, other.begin_s));
  }
  alone_s_ += alone_s;
  rest_s_ += span.seconds() - overlapped_s;
  overlapped_s_ += overlapped_s;
}

std::optional<double> Slowdown::value() const {
  const double work_s = alone_s_ - rest_s_;
  if (overlapped_s_ <= 0 || work_s <= 0) {
    return std::nullopt;
  }
  return std::clamp(overlapped_s_ / work_s, 1.0, largest_slowdown);
}

}  // namespace gnomon::profiles
