#include "profiles/measure/slowdown.h"

#include <algorithm>

namespace gnomon::profiles {
namespace {

/// More than one neighbour on a core of its own can do.
constexpr double most_slowdown = 10;

}  // namespace

void Slowdown::add(double alone_s, const schedule::StageSpan& span,
                   std::span<const schedule::StageSpan> beside) {
  double overlapped_s = 0;
  for (const auto& other : beside) {
    overlapped_s += std::max(0.0, std::min(span.end_s, other.end_s) - std::max(span.begin_s, other.begin_s));
  }
  alone_s_ += alone_s;
  rest_s_ += span.end_s - span.begin_s - overlapped_s;
  overlapped_s_ += overlapped_s;
}

double Slowdown::value() const {
  // When the rest alone took nearly as long as everything should have, what is left is noise.
  const double work_s = alone_s_ - rest_s_;
  return work_s > 0 ? std::clamp(overlapped_s_ / work_s, 1.0, most_slowdown) : 1.0;
}

}  // namespace gnomon::profiles
