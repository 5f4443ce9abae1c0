#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document.h"
#include "profiles/profile.h"
#include "sim/prediction.h"
#include "tuner/search/running_limits.h"
#include "tuner/space/space.h"

namespace gnomon::tuner {

enum class StrategyKind : std::uint8_t {
  automatic,         ///< bounds prune, estimates rank, a Gaussian process proposes, the dispatcher polishes
  gaussian_process,  ///< expected improvement of a Gaussian process of log epoch times
  trees,             ///< boosted trees, their disagreement as uncertainty, and local search
  ppo,               ///< a policy that chooses field by field, learned by proximal policy optimisation
  dispatcher,        ///< from each family's first guess downhill, MorphGL's feedback as a move
  sobol,
  random,
  exhaustive,
};

}  // namespace gnomon::tuner

namespace gnomon::base {
template <>
struct EnumNames<tuner::StrategyKind> {
  static constexpr std::array<std::pair<tuner::StrategyKind, std::string_view>, 8> values{
      {{tuner::StrategyKind::automatic, "auto"},
       {tuner::StrategyKind::gaussian_process, "gp"},
       {tuner::StrategyKind::trees, "trees"},
       {tuner::StrategyKind::ppo, "ppo"},
       {tuner::StrategyKind::dispatcher, "dispatcher"},
       {tuner::StrategyKind::sobol, "sobol"},
       {tuner::StrategyKind::random, "random"},
       {tuner::StrategyKind::exhaustive, "exhaustive"}}};
};
}  // namespace gnomon::base

namespace gnomon::tuner {

/// What can be told of a space's plans on a profiled machine without simulating them, each computed once.
class Bounds {
 public:
  Bounds(const profiles::Profile& profile, const Space& space, const RunningLimits& limits = {});

  /// The lower bound of the mean costs (sim::lower_bound_s; microseconds). Plans that differ only in buffers,
  /// look-ahead and order share theirs. Where batches differ, an epoch whose batches take either route may be
  /// a little under it.
  double of(const Point& point);
  /// The epoch by arithmetic, all batches costing the mean (sim::predict_quickly), of at most 240 batches, in
  /// proportion: within some percent of the simulated one. Ten times that and more, the further it is over
  /// the limits, where a plan takes too much. The point must be feasible.
  double estimate(const Point& point);
  /// Space::is_feasible.
  bool is_feasible(const Point& point);

  /// Bounds and estimates that were computed.
  std::int64_t count() const { return std::ssize(known_); }
  std::int64_t estimates() const { return std::ssize(estimates_); }

 private:
  const profiles::Profile& profile_;
  const Space& space_;
  RunningLimits limits_;
  profiles::Profile short_;
  std::map<std::vector<double>, double> known_;
  std::map<Point, double> estimates_;
  std::map<Point, bool> feasible_;
};

/// What a strategy searches. All must outlive it.
struct Problem {
  const profiles::Profile& profile;
  const Space& space;
  Bounds& bounds;
  std::uint64_t seed = 0;
};

/// A search by turns: whoever runs it asks for points, evaluates them and tells what was found. A strategy is
/// a pure function of its problem and of what it was told, so a search can be replayed.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Feasible points to evaluate next, in any order or at once, none of them asked before; empty when the
  /// search is over.
  virtual std::vector<Point> ask() = 0;
  /// What came of a point, in the order of ask. A plan that turned out not to fit has an infinite epoch.
  virtual void tell(const Point& point, const sim::Prediction& prediction) = 0;
};

std::unique_ptr<Strategy> make_strategy(StrategyKind kind, const Problem& problem);

}  // namespace gnomon::tuner
