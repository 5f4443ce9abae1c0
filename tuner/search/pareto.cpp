#include "tuner/search/pareto.h"

#include <algorithm>

namespace gnomon::tuner {
namespace {

bool is_no_worse(const Goals& a, const Goals& b) {
  return std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) { return x <= y; });
}

}  // namespace

std::vector<std::size_t> pareto_front(const std::vector<Goals>& all) {
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool beaten = false;
    for (std::size_t j = 0; j < all.size() && !beaten; ++j) {
      beaten = is_no_worse(all[j], all[i]) && (all[j] != all[i] || j < i);
    }
    if (!beaten) {
      front.push_back(i);
    }
  }
  std::sort(front.begin(), front.end(), [&](std::size_t a, std::size_t b) { return all[a] < all[b]; });
  return front;
}

double hypervolume(std::vector<Goals> points, const Goals& reference) {
  std::erase_if(points, [&](const Goals& point) { return !is_no_worse(point, reference); });
  if (points.empty()) {
    return 0;
  }
  std::sort(points.begin(), points.end(), [](const Goals& a, const Goals& b) { return a.back() < b.back(); });
  if (reference.size() == 1) {
    return reference.front() - points.front().front();
  }
  // The slice between the last goals of two successive points is dominated by the points up to the first of
  // them.
  const Goals rest(reference.begin(), reference.end() - 1);
  std::vector<Goals> slice;
  double volume = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    slice.emplace_back(points[i].begin(), points[i].end() - 1);
    const double next = i + 1 < points.size() ? points[i + 1].back() : reference.back();
    if (next > points[i].back()) {
      volume += (next - points[i].back()) * hypervolume(slice, rest);
    }
  }
  return volume;
}

}  // namespace gnomon::tuner
