#include "tuner/search/search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace gnomon::tuner {
namespace {

class Search {
 public:
  Search(const Problem& problem, StrategyKind kind, const Budget& budget, const EvaluateAll& evaluate,
         const base::Progress& progress)
      : problem_(problem),
        strategy_(make_strategy(kind, problem)),
        budget_(budget),
        evaluate_(evaluate),
        progress_(progress) {}

  SearchResult run() {
    while (result_.stopped_by.empty()) {
      report();
      auto points = strategy_->ask();
      if (points.empty()) {
        result_.stopped_by = "strategy";
      } else {
        evaluate(std::move(points));
      }
    }
    report();
    choose_best();
    return std::move(result_);
  }

 private:
  void evaluate(std::vector<Point> points) {
    const auto left = static_cast<std::size_t>(budget_.evaluations) - result_.evaluated.size();
    points.resize(std::min(points.size(), left));
    std::vector<plan::Plan> plans;
    for (const Point& point : points) {
      plans.push_back(problem_.space.plan_at(point));
    }
    const auto predictions = evaluate_(plans);
    for (std::size_t i = 0; i < points.size(); ++i) {
      strategy_->tell(points[i], predictions.at(i));
      result_.evaluated.push_back({std::move(plans[i]), predictions[i]});
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
    if (std::ssize(result_.evaluated) >= budget_.evaluations) {
      result_.stopped_by = "evaluations";
    } else if (spent.count() >= budget_.seconds) {
      result_.stopped_by = "seconds";
    }
  }

  void report() const {
    const auto total = std::min<std::int64_t>(budget_.evaluations, problem_.space.size());
    base::report(progress_, "tuning", std::ssize(result_.evaluated), total);
  }

  void choose_best() {
    const auto best = std::min_element(result_.evaluated.begin(), result_.evaluated.end(), is_better);
    if (best == result_.evaluated.end() || !std::isfinite(best->prediction.epoch_s)) {
      throw base::Failure("tuning", "no plan that was tried fits this machine");
    }
    result_.best = *best;
  }

  const Problem& problem_;
  std::unique_ptr<Strategy> strategy_;
  const Budget& budget_;
  const EvaluateAll& evaluate_;
  const base::Progress& progress_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  SearchResult result_;
};

}  // namespace

SearchResult search(const Problem& problem, StrategyKind kind, const Budget& budget,
                    const EvaluateAll& evaluate, const base::Progress& progress) {
  return Search(problem, kind, budget, evaluate, progress).run();
}

}  // namespace gnomon::tuner
