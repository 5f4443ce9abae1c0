#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/progress.h"
#include "tuner/search/candidate.h"
#include "tuner/search/strategy.h"

namespace gnomon::tuner {

/// Limits of a search whose strategy does not end by itself.
struct Budget {
  int evaluations = 100;
  double seconds = std::numeric_limits<double>::infinity();
};

struct SearchResult {
  Candidate best;
  std::vector<Candidate> evaluated;  ///< in order
  std::string stopped_by;            ///< "strategy", "evaluations" or "seconds"
};

/// Runs the ask, evaluate, tell loop until the strategy ends or the budget is exhausted. Unless the budget is
/// in seconds, the result depends only on the problem. Throws base::Failure if no plan that was tried fits
/// the machine.
SearchResult search(const Problem& problem, StrategyKind kind, const Budget& budget,
                    const EvaluateAll& evaluate, const base::Progress& progress);

}  // namespace gnomon::tuner
