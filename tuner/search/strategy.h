#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document.h"
#include "profiles/profile.h"
#include "sim/prediction.h"
#include "tuner/search/point_facts.h"
#include "tuner/space/space.h"

namespace gnomon::tuner {

enum class StrategyKind : std::uint8_t {
  automatic,         ///< bounds prune, estimates rank, a Gaussian process proposes, the dispatcher polishes
  gaussian_process,  ///< expected improvement of a Gaussian process of log epoch times
  trees,             ///< boosted trees, their disagreement as uncertainty, and local search
  ppo,               ///< a policy that chooses field by field, trained by proximal policy optimisation
  dispatcher,        ///< descent from first guesses, with MorphGL's feedback as a move
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

/// The problem that a strategy searches. All references must outlive it.
struct Problem {
  const profiles::Profile& profile;
  const Space& space;
  PointFacts& facts;
  std::uint64_t seed = 0;
};

/// A search strategy with an ask/tell interface: the caller asks for points, evaluates them and reports the
/// predictions. A strategy is a pure function of its problem and the reported predictions, so that a search
/// can be replayed.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Returns feasible, new points to evaluate next, in any order or concurrently; empty if the search is
  /// over.
  virtual std::vector<Point> ask() = 0;
  /// Reports the prediction of a point, in the order of ask(). A plan that does not fit has an infinite
  /// epoch.
  virtual void tell(const Point& point, const sim::Prediction& prediction) = 0;
};

std::unique_ptr<Strategy> make_strategy(StrategyKind kind, const Problem& problem);

}  // namespace gnomon::tuner
