#include "tuner/search/model_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/prediction.h"
#include "tuner/models/proposal_model.h"
#include "tuner/search/observed.h"
#include "tuner/search/ranking.h"

namespace gnomon::tuner {
namespace {

constexpr std::size_t first_points = 8;     ///< before the model proposes
constexpr std::ptrdiff_t first_ranked = 6;  ///< of these, in `automatic`, the best by estimate
constexpr std::int64_t max_ranked = 1500;
constexpr double estimate_error = 0.03;         ///< relative; epochs may be this much under their estimates
constexpr std::size_t max_broad = 60;           ///< evaluations after which only promising points are tried
constexpr std::size_t random_candidates = 160;  ///< per proposal, besides neighbours of the best plans
constexpr std::int64_t small_space = 600;       ///< spaces up to this size are searched whole
constexpr std::size_t max_fruitless = 6;        ///< neighbours without a better one before the search ends
constexpr double min_improvement = 1e-3;  ///< relative, below which the model's proposals are not worth a try

class ModelSearch final : public Strategy {
 public:
  ModelSearch(StrategyKind kind, const Problem& problem)
      : problem_(problem),
        kind_(kind),
        automatic_(kind == StrategyKind::automatic),
        random_({.seed = problem.seed, .purpose = base::Purpose::simulate, .epoch = 2}) {
    add_model();
    if (automatic_) {
      ranked_ = ranked_points(problem, random_, max_ranked);
      first_.assign(ranked_.begin(),
                    ranked_.begin() + std::min<std::ptrdiff_t>(first_ranked, std::ssize(ranked_)));
    }
    const auto drawn = random_points(problem.space, observed_, random_, first_points - first_.size());
    first_.insert(first_.end(), drawn.begin(), drawn.end());
  }

  std::vector<Point> ask() override {
    auto points = first();
    if (points.empty() && automatic_) {
      points = dispatched();
    }
    if (points.empty() && !observed_.entries().empty()) {
      points = proposed();
    }
    for (const Point& point : points) {
      observed_.mark(point);
    }
    return points;
  }

  void tell(const Point& point, const sim::Prediction& prediction) override {
    const double before_s = observed_.best_s();
    observed_.add(point, prediction);
    improved_ = observed_.best_s() < before_s;
    fruitless_ = improved_ ? 0 : fruitless_ + (polishing_ ? 1 : 0);
  }

 private:
  struct Scored {
    Point point;
    double improvement = 0;
  };

  /// All at once if nothing is learned in between; otherwise one by one, as bounds may rule out the next
  /// ones.
  std::vector<Point> first() {
    std::vector<Point> points;
    while (next_first_ < first_.size() && (points.empty() || !automatic_)) {
      const Point& point = first_[next_first_++];
      if (can_win(point)) {
        points.push_back(point);
      }
    }
    return points;
  }

  std::vector<Point> dispatched() const {
    if (!improved_ || !observed_.has_best()) {
      return {};
    }
    const auto& best = observed_.best();
    const Point move = dispatcher_move(problem_, best.point, best.prediction);
    return can_win(move) ? std::vector<Point>{move} : std::vector<Point>{};
  }

  std::vector<Point> proposed() {
    learn();
    polishing_ = false;
    const auto best = most_promising(candidates());
    if (best && (!automatic_ || best->improvement >= min_improvement)) {
      return {best->point};
    }
    if (!automatic_ || !observed_.has_best()) {
      return {};
    }
    if (fruitless_ >= max_fruitless) {
      return next_ranked();
    }
    polishing_ = true;
    const auto last = most_promising(problem_.space.neighbours(observed_.best().point));
    return last ? std::vector<Point>{last->point} : next_ranked();
  }

  /// The next point by estimate that could still be the best, regardless of the model's proposals.
  std::vector<Point> next_ranked() const {
    for (const Point& point : ranked_) {
      if (problem_.facts.estimate_s(point) > observed_.best_s() * (1 + estimate_error) ||
          observed_.entries().size() >= max_broad) {
        break;
      }
      if (can_win(point)) {
        return {point};
      }
    }
    return {};
  }

  bool can_win(const Point& point) const {
    return observed_.is_new(point) && problem_.facts.is_feasible(point) &&
           (!automatic_ || problem_.facts.lower_bound_s(point) < observed_.best_s());
  }

  void add_model() {
    model_ =
        kind_ == StrategyKind::trees ? make_trees_model(problem_.seed) : make_gaussian_model(problem_.space);
  }

  /// The known part of the objective: `automatic` learns the ratio of epochs to estimates.
  double known(const Point& point) const {
    return automatic_ ? std::log(problem_.facts.estimate_s(point)) : 0;
  }

  void learn() {
    std::vector<std::vector<double>> codes;
    std::vector<double> values;
    double worst = 0;
    for (const auto& entry : observed_.entries()) {
      codes.push_back(problem_.space.encode(entry.point));
      values.push_back(std::log(entry.prediction.epoch_s) - known(entry.point));
      worst = std::isfinite(values.back()) ? std::max(worst, values.back()) : worst;
    }
    for (double& value : values) {
      value = std::isfinite(value) ? value
                                   : worst + 1;  // infeasible points are worse than the worst feasible one
    }
    model_->learn(codes, values);
  }

  std::vector<Point> candidates() {
    if (problem_.space.size() <= small_space) {
      std::vector<Point> points;
      for (std::int64_t number = 0; number < problem_.space.size(); ++number) {
        points.push_back(problem_.space.at(number));
      }
      return points;
    }
    std::vector<Point> points;
    if (automatic_) {
      points.assign(ranked_.begin(),
                    ranked_.begin() + std::min<std::ptrdiff_t>(random_candidates, std::ssize(ranked_)));
    } else {
      points = random_points(problem_.space, observed_, random_, random_candidates);
    }
    for (const Point& good : observed_.fastest(3)) {
      const auto around = problem_.space.neighbours(good);
      points.insert(points.end(), around.begin(), around.end());
    }
    return points;
  }

  /// Hill climbing from the best candidate.
  std::optional<Scored> most_promising(const std::vector<Point>& points) const {
    auto best = best_of(points);
    for (int climb = 0; best && climb < 3 && problem_.space.size() > small_space && !polishing_; ++climb) {
      auto next = best_of(problem_.space.neighbours(best->point));
      if (!next || next->improvement <= best->improvement) {
        break;
      }
      best = std::move(next);
    }
    return best;
  }

  std::optional<Scored> best_of(const std::vector<Point>& points) const {
    std::vector<Point> fresh;
    std::vector<std::vector<double>> codes;
    for (const Point& point : points) {
      if (can_win(point)) {
        fresh.push_back(point);
        codes.push_back(problem_.space.encode(point));
      }
    }
    if (fresh.empty()) {
      return std::nullopt;
    }
    const auto normals = model_->at(codes);
    const double goal = observed_.has_best() ? std::log(observed_.best_s()) : 0;
    Scored best{{}, -1};
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      const double improvement =
          expected_improvement({normals[i].mean + known(fresh[i]), normals[i].variance}, goal);
      if (improvement > best.improvement) {
        best = {fresh[i], improvement};
      }
    }
    return best;
  }

  Problem problem_;
  StrategyKind kind_;
  bool automatic_;
  std::unique_ptr<ProposalModel> model_;
  std::vector<Point> ranked_;
  base::RandomStream random_;
  Observed observed_;
  std::vector<Point> first_;
  std::size_t next_first_ = 0;
  bool improved_ = false;
  bool polishing_ = false;
  std::size_t fruitless_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_model_search(StrategyKind kind, const Problem& problem) {
  return std::make_unique<ModelSearch>(kind, problem);
}

}  // namespace gnomon::tuner
