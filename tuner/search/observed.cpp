#include "tuner/search/observed.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "sim/costs/model.h"
#include "sim/prediction.h"
#include "tuner/search/dispatcher.h"

namespace gnomon::tuner {
namespace {

/// Buffer size of first guesses.
constexpr int guessed_cpu_buffer = 4;
constexpr int guessed_device_buffer = 10;

/// The index of the dimension with this path; the number of dimensions if it is not searched.
std::size_t dimension_of(const Space& space, std::string_view path) {
  const auto& dimensions = space.dimensions();
  return static_cast<std::size_t>(std::find_if(dimensions.begin(), dimensions.end(),
                                               [&](const Dimension& d) { return d.field.path == path; }) -
                                  dimensions.begin());
}

/// The point with every number in turn set to the smallest value that gives the lowest bound.
Point lowest_bound(const Problem& problem, Point point) {
  const auto& dimensions = problem.space.dimensions();
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      if (dimensions[d].is_category() || point[d] < 0) {
        continue;
      }
      double best_s = problem.facts.lower_bound_s(point) * (1 - 1e-12);
      for (const Point& other : problem.space.along(point, d)) {
        if (problem.space.is_feasible(other) && problem.facts.lower_bound_s(other) < best_s) {
          best_s = problem.facts.lower_bound_s(other) * (1 - 1e-12);
          point = other;
        }
      }
    }
  }
  return point;
}

/// Sets buffers large enough to absorb short waits, and an automatic look-ahead or, if the space does not
/// contain that, one of as many trainings as a CPU batch takes.
Point with_buffers(const Problem& problem, const Point& point) {
  plan::Plan plan = problem.space.plan_at(point);
  const auto costs = sim::machine_model(problem.profile, plan, false, 0).costs;
  const double step_s = problem.facts.lower_bound_s(point) /
                        static_cast<double>(std::max<std::int64_t>(1, problem.profile.workload.batches));
  plan.look_ahead = 0;
  if (const auto open = problem.space.nearest(plan); open && problem.space.plan_at(*open).look_ahead > 0) {
    const auto look_ahead = step_s > 0 ? std::ceil(costs.cpu_batch_s / step_s) + 1 : 1;
    plan.look_ahead = static_cast<int>(std::clamp(look_ahead, 1.0, 4096.0));
  }
  plan.device_buffer = guessed_device_buffer;
  plan.cpu_buffer = guessed_cpu_buffer;
  if (plan.schedule == plan::Schedule::dual_buffer) {
    const double x = first_ratio(costs.cpu_batch_s / std::max(1, plan.workers), costs.device_batch_s,
                                 costs.transfer_s, costs.train_s);
    plan.cpu_buffer = static_cast<int>(std::clamp(std::floor(plan.device_buffer / x), 1.0, 4096.0));
  }
  return problem.space.nearest(plan).value_or(point);
}

}  // namespace

void Observed::add(const Point& point, const sim::Prediction& prediction) {
  asked_.insert(point);
  entries_.push_back({point, prediction});
  if (std::isfinite(prediction.epoch_s) && prediction.epoch_s < best_s()) {
    best_ = std::ssize(entries_) - 1;
  }
}

double Observed::best_s() const {
  return has_best() ? best().prediction.epoch_s : std::numeric_limits<double>::infinity();
}

std::vector<Point> Observed::fastest(std::size_t count) const {
  std::vector<const Entry*> order;
  for (const Entry& entry : entries_) {
    if (std::isfinite(entry.prediction.epoch_s)) {
      order.push_back(&entry);
    }
  }
  std::stable_sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
    return a->prediction.epoch_s < b->prediction.epoch_s;
  });
  std::vector<Point> points;
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i) {
    points.push_back(order[i]->point);
  }
  return points;
}

std::vector<Point> random_points(const Space& space, const Observed& observed, base::RandomStream& random,
                                 std::size_t count) {
  std::set<Point> drawn;
  std::vector<Point> points;
  for (std::size_t tries = 0; points.size() < count && tries < 20 * count + 200; ++tries) {
    Point point = space.at(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(space.size()))));
    if (observed.is_new(point) && drawn.insert(point).second && space.is_feasible(point)) {
      points.push_back(std::move(point));
    }
  }
  return points;
}

std::vector<Point> first_guesses(const Problem& problem, std::size_t count) {
  struct Guess {
    double bound_s;
    int rank;  ///< among those with its schedule
    Point point;
  };
  std::vector<Guess> guesses;
  for (const Point& start : problem.space.family_starts()) {
    if (!problem.space.is_feasible(start)) {
      continue;
    }
    const Point point = with_buffers(problem, lowest_bound(problem, start));
    if (problem.space.is_feasible(point)) {
      guesses.push_back({problem.facts.lower_bound_s(point), 0, point});
    }
  }
  std::stable_sort(guesses.begin(), guesses.end(),
                   [](const Guess& a, const Guess& b) { return a.bound_s < b.bound_s; });
  std::map<int, int> of_schedule;
  const std::size_t schedule = dimension_of(problem.space, "schedule");
  for (Guess& guess : guesses) {
    guess.rank = of_schedule[guess.point[schedule]]++;
  }
  std::stable_sort(guesses.begin(), guesses.end(),
                   [](const Guess& a, const Guess& b) { return std::min(a.rank, 1) < std::min(b.rank, 1); });
  std::vector<Point> points;
  for (std::size_t i = 0; i < std::min(count, guesses.size()); ++i) {
    points.push_back(guesses[i].point);
  }
  return points;
}

Point dispatcher_move(const Problem& problem, const Point& point, const sim::Prediction& prediction) {
  const plan::Plan plan = problem.space.plan_at(point);
  if (plan.schedule != plan::Schedule::dual_buffer) {
    return point;
  }
  const double device_batch_s = sim::machine_model(problem.profile, plan, false, 0).costs.device_batch_s;
  const int step = dispatcher_step(prediction, plan.cpu_buffer, device_batch_s);
  const auto around = problem.space.along(point, dimension_of(problem.space, "cpu_buffer"));
  const auto here = std::find(around.begin(), around.end(), point) - around.begin();
  const auto there = here + step;
  return there >= 0 && there < std::ssize(around) ? around[static_cast<std::size_t>(there)] : point;
}

}  // namespace gnomon::tuner
