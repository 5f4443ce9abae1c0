#include "tuner/search/strategy.h"

#include <algorithm>

#include "tuner/search/policy_search.h"
#include "tuner/search/surrogate_search.h"
#include "tuner/space/sobol.h"
#include "tuner/surrogate/observed.h"

namespace gnomon::tuner {
namespace {

/// Points that strategies without feedback ask for at once.
constexpr std::size_t batch = 16;

class Exhaustive final : public Strategy {
 public:
  explicit Exhaustive(const Problem& problem) : space_(problem.space) {}

  std::vector<Point> ask() override {
    std::vector<Point> points;
    for (; next_ < space_.size() && points.size() < batch; ++next_) {
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
    auto points = random_points(space_, observed_, random_, batch);
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
    const std::uint32_t last = next_ + most_tries;
    for (; points.size() < batch && next_ < last; ++next_) {
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
  static constexpr std::uint32_t most_tries = 4096;
  const Space& space_;
  Sobol sequence_;
  std::uint32_t next_ = 0;
  Observed observed_;
};

/// Downhill from the fastest first guess; of its neighbours the move of MorphGL's feedback comes first.
class Dispatcher final : public Strategy {
 public:
  explicit Dispatcher(const Problem& problem) : problem_(problem), guesses_(first_guesses(problem, 8)) {}

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
      if (problem_.bounds.of(point) < observed_.best_s() && problem_.space.is_feasible(point) &&
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

Bounds::Bounds(const profiles::Profile& profile, const Space& space, const RunningLimits& limits)
    : profile_(profile), space_(space), limits_(limits), short_(profile) {
  constexpr std::int64_t most_batches = 240;
  short_.workload.batches = std::min(profile.workload.batches, most_batches);
}

bool Bounds::is_feasible(const Point& point) {
  const auto [found, is_new] = feasible_.try_emplace(point);
  if (is_new) {
    found->second = space_.is_feasible(point);
  }
  return found->second;
}

double Bounds::estimate(const Point& point) {
  const auto [found, is_new] = estimates_.try_emplace(point);
  if (is_new) {
    const double share =
        static_cast<double>(profile_.workload.batches) / static_cast<double>(short_.workload.batches);
    const auto prediction = sim::predict_quickly(short_, space_.plan_at(point));
    const double used =
        share_of_limits(limits_, prediction.use, static_cast<double>(short_.workload.batches));
    found->second = share * prediction.epoch_s * (used > 1 ? 10 * used : 1);
  }
  return found->second;
}

double Bounds::of(const Point& point) {
  plan::Plan plan = space_.plan_at(point);
  const plan::Plan usual;
  plan::Plan key = plan;
  key.order = usual.order;
  key.look_ahead = usual.look_ahead;
  key.copy_during_device_batch = usual.copy_during_device_batch;
  if (!plan.cache.is_used()) {  // a cache gets the memory that buffers leave
    key.cpu_buffer = usual.cpu_buffer;
    key.device_buffer = usual.device_buffer;
  }
  const auto [found, is_new] = known_.try_emplace(field_values(key));
  if (is_new) {
    plan = sim::resolve_on(profile_, plan);
    found->second =
        sim::lower_bound_s(sim::machine_model(profile_, plan, false, 0), plan, profile_.workload.batches);
  }
  return found->second;
}

std::unique_ptr<Strategy> make_strategy(StrategyKind kind, const Problem& problem) {
  switch (kind) {
    case StrategyKind::automatic:
    case StrategyKind::gaussian_process:
    case StrategyKind::trees:
      return make_surrogate_search(kind, problem);
    case StrategyKind::ppo:
      return make_policy_search(problem);
    case StrategyKind::dispatcher:
      return std::make_unique<Dispatcher>(problem);
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
