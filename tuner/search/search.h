#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/progress.h"
#include "tuner/search/strategy.h"
#include "tuner/tuner.h"

namespace gnomon::tuner {

/// Asks the simulator (or anything else) about plans, in any order or at once: a prediction for each.
using EvaluateAll = std::function<std::vector<sim::Prediction>(const std::vector<plan::Plan>&)>;

/// Evaluates one by one.
EvaluateAll one_by_one(Evaluate evaluate);

/// When a search ends that does not end by itself.
struct Budget {
  int evaluations = 100;
  double seconds = std::numeric_limits<double>::infinity();
};

struct SearchResult {
  Candidate best;
  std::vector<Candidate> evaluated;  ///< in the order in which they were
  std::string stopped_by;            ///< "strategy", "evaluations" or "seconds"
};

/// Whether a plan is to be preferred: the faster one, and of equally fast ones that with fewer resources.
bool is_better(const Candidate& a, const Candidate& b);

/// Asks, evaluates and tells until the strategy has no more to ask or the budget is spent. Unless seconds
/// limit it, the result follows from the problem alone. Throws base::Failure when no plan that was tried fits
/// the machine.
SearchResult search(const Problem& problem, StrategyKind kind, const Budget& budget,
                    const EvaluateAll& evaluate, const base::Progress& progress);

}  // namespace gnomon::tuner
