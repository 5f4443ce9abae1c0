#include "profiles/scaling.h"

#include <algorithm>

namespace gnomon::profiles {
namespace {

/// Linear interpolation; constant beyond the last point.
double interpolated(const std::vector<ScalingPoint>& points, int threads) {
  ScalingPoint below;  // one thread has the value 1
  threads = std::max(threads, below.threads);
  for (const ScalingPoint& point : points) {
    if (point.threads >= threads) {
      const int gap = point.threads - below.threads;
      const double share = gap > 0 ? static_cast<double>(threads - below.threads) / gap : 1.0;
      return below.value + share * (point.value - below.value);
    }
    below = point;
  }
  return below.value;
}

/// The interpolated value; beyond the last point, its value times the ratio by which the law changes from
/// there. `fitted` returns the law.
template <class Fitted>
double value_at(const std::vector<ScalingPoint>& points, int threads, const Fitted& fitted) {
  const double value = interpolated(points, threads);
  const int measured = points.empty() ? threads : points.back().threads;
  if (threads <= measured) {
    return value;
  }
  const auto law = fitted();
  return value * law(threads) / law(measured);
}

/// Least-squares slope of a line through the origin for the points (x, y); `otherwise` without points off the
/// origin.
class LineThroughZero {
 public:
  void add(double x, double y) {
    xy_ += x * y;
    xx_ += x * x;
  }
  double slope(double otherwise) const { return xx_ > 0 ? xy_ / xx_ : otherwise; }

 private:
  double xy_ = 0;
  double xx_ = 0;
};

}  // namespace

double serial_share(const std::vector<ScalingPoint>& points) {
  LineThroughZero line;  // 1 / speed-up - 1 / t = f (1 - 1 / t)
  for (const auto& point : points) {
    const double parallel = 1.0 / point.threads;
    line.add(1 - parallel, 1 / point.value - parallel);
  }
  return std::clamp(line.slope(1), 0.0, 1.0);
}

double contention_share(const std::vector<ScalingPoint>& points) {
  LineThroughZero line;  // 1 / efficiency - 1 = c (w - 1)
  for (const auto& point : points) {
    line.add(point.threads - 1, 1 / point.value - 1);
  }
  return std::max(line.slope(0), 0.0);
}

double speedup_at(const std::vector<ScalingPoint>& points, int threads) {
  return value_at(points, threads, [&] {
    return [serial = serial_share(points)](int t) { return 1 / (serial + (1 - serial) / t); };
  });
}

double worker_efficiency_at(const std::vector<ScalingPoint>& points, int workers) {
  return value_at(points, workers, [&] {
    return [contention = contention_share(points)](int w) { return 1 / (1 + contention * (w - 1)); };
  });
}

}  // namespace gnomon::profiles
