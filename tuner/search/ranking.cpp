#include "tuner/search/ranking.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tuner/search/observed.h"

namespace gnomon::tuner {
namespace {

constexpr std::size_t guesses = 8;
constexpr std::size_t random_starts = 64;
constexpr double same = 1e-3;  ///< relative difference below which estimates count as equal

/// Hill climbing on the estimates of a space's points.
class Ranking {
 public:
  Ranking(const Problem& problem, std::int64_t max_estimates)
      : problem_(problem), max_estimates_(max_estimates) {}

  double look_at(const Point& point) {
    const auto [found, is_new] = seconds_.try_emplace(point, std::numeric_limits<double>::infinity());
    if (is_new && problem_.facts.is_feasible(point)) {
      found->second = problem_.facts.estimate_s(point);
      ++looked_at_;
    }
    return found->second;
  }

  bool has_more() const { return looked_at_ < max_estimates_; }

  void climb(Point point) {
    double here_s = look_at(point);
    while (has_more()) {
      const Point before = point;
      for (const Point& next : problem_.space.neighbours(before)) {
        if (const double next_s = look_at(next); next_s < here_s) {
          here_s = next_s;
          point = next;
        }
      }
      if (point == before) {
        break;
      }
    }
  }

  /// By their estimates, the fastest first.
  std::vector<Point> fastest() const {
    std::vector<std::pair<double, const Point*>> order;
    for (const auto& [point, seconds] : seconds_) {
      if (std::isfinite(seconds)) {
        order.emplace_back(seconds, &point);
      }
    }
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return std::tie(a.first, *a.second) < std::tie(b.first, *b.second);
    });
    std::vector<Point> points;
    for (const auto& [seconds, point] : order) {
      points.push_back(*point);
    }
    return points;
  }

 private:
  const Problem& problem_;
  std::int64_t max_estimates_;
  std::int64_t looked_at_ = 0;
  std::map<Point, double> seconds_;
};

std::vector<Point> without_equals(const Problem& problem, const std::vector<Point>& points) {
  std::vector<Point> kept;
  double last_s = 0;
  for (const Point& point : points) {
    const double seconds = problem.facts.estimate_s(point);
    if (seconds > last_s * (1 + same)) {
      kept.push_back(point);
      last_s = seconds;
    } else if (resources(problem.space.plan_at(point)) < resources(problem.space.plan_at(kept.back()))) {
      kept.back() = point;
    }
  }
  return kept;
}

}  // namespace

std::vector<Point> ranked_points(const Problem& problem, base::RandomStream& random, std::int64_t estimates) {
  Ranking ranking(problem, estimates);
  for (const Point& point : first_guesses(problem, guesses)) {
    ranking.look_at(point);
  }
  for (const Point& point : random_points(problem.space, Observed(), random, random_starts)) {
    ranking.look_at(point);
  }
  const auto starts = ranking.fastest();
  for (std::size_t i = 0; i < starts.size() && ranking.has_more(); ++i) {
    ranking.climb(starts[i]);
  }
  return without_equals(problem, ranking.fastest());
}

}  // namespace gnomon::tuner
