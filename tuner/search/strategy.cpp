#include "tuner/search/strategy.h"

#include <algorithm>

#include "tuner/search/model_search.h"
#include "tuner/search/observed.h"
#include "tuner/search/policy_search.h"
#include "tuner/space/sobol.h"

namespace gnomon::tuner {
namespace {

/// Batch size of strategies without feedback.
constexpr std::size_t plans_per_round = 16;

class Exhaustive final : public Strategy {
 public:
  explicit Exhaustive(const Problem& problem) : space_(problem.space) {}

  std::vector<Point> ask() override {
    std::vector<Point> points;
    for (; next_ < space_.size() && points.size() < plans_per_round; ++next_) {
      if (Point point = space_.at(next_); space_.is_feasible(point)) {
        points.push_back(std::move(point));
      }
    }
    return points;
  }
  void tell(const Point&, const sim::Prediction&) override {}

 private:
  const Space& space_;
  std::int64_t next_ = 0;
};

class Random final : public Strategy {
 public:
  explicit Random(const Problem& problem)
      : space_(problem.space),
        random_({.seed = problem.seed, .purpose = base::Purpose::simulate, .epoch = 1}) {}

  std::vector<Point> ask() override {
    auto points = random_points(space_, observed_, random_, plans_per_round);
    for (const Point& point : points) {
      observed_.mark(point);
    }
    return points;
  }
  void tell(const Point& point, const sim::Prediction& prediction) override {
    observed_.add(point, prediction);
  }

 private:
  const Space& space_;
  base::RandomStream random_;
  Observed observed_;
};

class SobolSearch final : public Strategy {
 public:
  explicit SobolSearch(const Problem& problem)
      : space_(problem.space), sequence_(problem.space.coordinates(), problem.seed) {}

  std::vector<Point> ask() override {
    std::vector<Point> points;
    const std::uint32_t last = next_ + max_tries;
    for (; points.size() < plans_per_round && next_ < last; ++next_) {
      Point point = space_.at_coordinates(sequence_.at(next_));
      if (observed_.is_new(point) && space_.is_feasible(point)) {
        observed_.mark(point);
        points.push_back(std::move(point));
      }
    }
    return points;
  }
  void tell(const Point& point, const sim::Prediction& prediction) override {
    observed_.add(point, prediction);
  }

 private:
  static constexpr std::uint32_t max_tries = 4096;
  const Space& space_;
  Sobol sequence_;
  std::uint32_t next_ = 0;
  Observed observed_;
};

/// Descent from the fastest first guess; MorphGL's feedback move is tried before other neighbours.
class DispatcherSearch final : public Strategy {
 public:
  explicit DispatcherSearch(const Problem& problem)
      : problem_(problem), guesses_(first_guesses(problem, 8)) {}

  std::vector<Point> ask() override {
    if (!std::exchange(begun_, true)) {
      return fresh(guesses_);
    }
    if (!observed_.has_best()) {
      return {};
    }
    const auto& best = observed_.best();
    const Point move = dispatcher_move(problem_, best.point, best.prediction);
    if (observed_.is_new(move) && problem_.space.is_feasible(move)) {
      return fresh({move});
    }
    return fresh(problem_.space.neighbours(best.point));
  }
  void tell(const Point& point, const sim::Prediction& prediction) override {
    observed_.add(point, prediction);
  }

 private:
  std::vector<Point> fresh(const std::vector<Point>& points) {
    std::vector<Point> kept;
    for (const Point& point : points) {
      if (problem_.facts.lower_bound_s(point) < observed_.best_s() && problem_.space.is_feasible(point) &&
          observed_.mark(point)) {
        kept.push_back(point);
      }
    }
    return kept;
  }

  Problem problem_;
  std::vector<Point> guesses_;
  bool begun_ = false;
  Observed observed_;
};

}  // namespace

std::unique_ptr<Strategy> make_strategy(StrategyKind kind, const Problem& problem) {
  switch (kind) {
    case StrategyKind::automatic:
    case StrategyKind::gaussian_process:
    case StrategyKind::trees:
      return make_model_search(kind, problem);
    case StrategyKind::ppo:
      return make_policy_search(problem);
    case StrategyKind::dispatcher:
      return std::make_unique<DispatcherSearch>(problem);
    case StrategyKind::sobol:
      return std::make_unique<SobolSearch>(problem);
    case StrategyKind::random:
      return std::make_unique<Random>(problem);
    case StrategyKind::exhaustive:
      break;
  }
  return std::make_unique<Exhaustive>(problem);
}

}  // namespace gnomon::tuner
