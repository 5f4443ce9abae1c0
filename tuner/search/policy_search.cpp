#include "tuner/search/policy_search.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <utility>

#include "base/philox.h"
#include "sim/prediction.h"
#include "tuner/models/actor_critic.h"

namespace gnomon::tuner {
namespace {

constexpr std::size_t batch = 8;  ///< new plans per policy update
/// Per batch used for learning, in addition to the new plans.
constexpr std::size_t max_episodes = 2 * batch;
constexpr std::size_t max_batches = 4;  ///< number of recent batches used for learning
constexpr std::size_t hidden_units = 16;
constexpr int passes = 20;  ///< over the batches per policy update
constexpr double learning_rate = 0.005;
constexpr double decay = 0.95;            ///< of advantages from choice to choice (lambda)
constexpr double infeasible_penalty = 1;  ///< below the worst, in standard deviations
constexpr double infeasible = std::numeric_limits<double>::infinity();
constexpr std::size_t max_draws = 2000;  ///< in search of new plans

/// Adam (Kingma and Ba, arXiv 1412.6980).
class Adam {
 public:
  void step(std::vector<double>& parameters, const std::vector<double>& gradient) {
    mean_.resize(parameters.size());
    square_.resize(parameters.size());
    ++steps_;
    const double mean_scale = 1 / (1 - std::pow(0.9, steps_));
    const double square_scale = 1 / (1 - std::pow(0.999, steps_));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      mean_[i] += 0.1 * (gradient[i] - mean_[i]);
      square_[i] += 0.001 * (gradient[i] * gradient[i] - square_[i]);
      parameters[i] -= learning_rate * mean_scale * mean_[i] / (std::sqrt(square_scale * square_[i]) + 1e-8);
    }
  }

 private:
  std::vector<double> mean_;
  std::vector<double> square_;
  int steps_ = 0;
};

/// A plan, choice by choice.
struct Episode {
  Point point;
  std::vector<Decision> decisions;
};

/// The layout of the policy's input: a one-hot encoding for each category, and two columns for each number,
/// whether it is chosen and its value.
struct View {
  explicit View(const Space& space) {
    for (const Dimension& dimension : space.dimensions()) {
      begin.push_back(columns);
      columns += dimension.is_category() ? dimension.values.size() : 2;
      fields.push_back({dimension.values.size(), !dimension.is_category()});
    }
  }

  /// Encodes the dimension's choice in `point`.
  void show(const Space& space, const Point& point, std::size_t dimension, std::vector<double>& state) const {
    const auto choice = static_cast<std::size_t>(point[dimension]);
    if (space.dimensions()[dimension].is_category()) {
      state[begin[dimension] + choice] = 1;
    } else {
      state[begin[dimension]] = 1;
      state[begin[dimension] + 1] =
          (static_cast<double>(choice) + 0.5) / static_cast<double>(fields[dimension].choices);
    }
  }

  std::vector<std::size_t> begin;
  std::size_t columns = 0;
  std::vector<PolicyField> fields;
};

std::size_t drawn(const std::vector<double>& probabilities, double uniform) {
  std::size_t taken = 0;
  for (; taken + 1 < probabilities.size() && uniform >= probabilities[taken]; ++taken) {
    uniform -= probabilities[taken];
  }
  return taken;
}

/// Mixes the policy's probabilities with the prior.
std::vector<double> mixed(std::vector<double> probabilities, const Allowed& allowed, double share) {
  double sum = 0;
  for (const double log : allowed.logs) {
    sum += std::exp(log);
  }
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    probabilities[i] += share * (std::exp(allowed.logs[i]) / sum - probabilities[i]);
  }
  return probabilities;
}

/// With a prior that makes all plans equally likely.
Allowed allowed_of(const std::vector<Space::Choice>& choices) {
  Allowed allowed;
  for (const auto& [position, plans] : choices) {
    allowed.choices.push_back(position);
    allowed.logs.push_back(std::log(static_cast<double>(plans)));
  }
  return allowed;
}

class PolicySearch final : public Strategy {
 public:
  explicit PolicySearch(const Problem& problem)
      : problem_(problem),
        view_(problem.space),
        policy_(view_.columns, view_.fields, hidden_units, problem.seed),
        random_({.seed = problem.seed, .purpose = base::Purpose::simulate, .epoch = 3}) {}

  std::vector<Point> ask() override {
    if (!batches_.empty()) {
      learn();
    }
    if (batches_.size() == max_batches) {
      batches_.pop_front();
    }
    std::vector<Point> points;
    auto& episodes = batches_.emplace_back();
    for (std::size_t draws = 0; points.size() < batch && draws < max_draws; ++draws) {
      const double past = static_cast<double>(draws) - static_cast<double>(max_episodes);
      auto episode = draw(std::clamp(past / (20.0 * batch), 0.0, 1.0));
      const auto [log, is_new] = logs_.try_emplace(episode.point, infeasible);
      if (is_new && problem_.facts.is_feasible(episode.point)) {
        points.push_back(episode.point);
      }
      if (episodes.size() < max_episodes || is_new) {
        episodes.push_back(std::move(episode));
      }
    }
    return points;
  }

  void tell(const Point& point, const sim::Prediction& prediction) override {
    logs_[point] = std::log(prediction.epoch_s);
  }

 private:
  /// `evenness`: weight of the prior in the sampling probabilities.
  Episode draw(double evenness) {
    Episode episode{Point(view_.fields.size(), -1), {}};
    std::vector<double> state(view_.columns);
    for (std::size_t d = 0; d < episode.point.size(); ++d) {
      const Allowed allowed = allowed_of(problem_.space.choices_after(episode.point, d));
      if (allowed.choices.front() < 0) {
        continue;
      }
      std::size_t taken = 0;
      if (allowed.choices.size() > 1) {
        const auto probabilities = mixed(policy_.probabilities(state, d, allowed), allowed, evenness);
        taken = drawn(probabilities, random_.uniform());
        episode.decisions.push_back({.state = state,
                                     .field = d,
                                     .allowed = allowed,
                                     .taken = taken,
                                     .log_probability = std::log(probabilities[taken])});
      }
      episode.point[d] = allowed.choices[taken];
      view_.show(problem_.space, episode.point, d, state);
    }
    return episode;
  }

  /// The reward of an episode, standardised over all known epochs.
  struct Scale {
    double mean = 0;
    double deviation = 1;
    double worst = 0;

    double reward(double log) const {
      return std::isfinite(log) ? (mean - log) / deviation : (mean - worst) / deviation - infeasible_penalty;
    }
  };

  Scale scale() const {
    Scale scale;
    double count = 0;
    double squares = 0;
    for (const auto& [point, log] : logs_) {
      if (std::isfinite(log)) {
        scale.worst = count == 0 ? log : std::max(scale.worst, log);
        ++count;
        const double off = log - scale.mean;
        scale.mean += off / count;
        squares += off * (log - scale.mean);
      }
    }
    scale.deviation = squares > 1e-18 ? std::sqrt(squares / count) : 1;
    return scale;
  }

  void learn() {
    std::vector<Decision> decisions;
    const Scale known = scale();
    for (const auto& episodes : batches_) {
      for (const Episode& episode : episodes) {
        add_decisions(episode, known.reward(logs_.at(episode.point)), decisions);
      }
    }
    normalise(decisions);
    for (int pass = 0; pass < passes && !decisions.empty(); ++pass) {
      auto parameters = policy_.parameters();
      adam_.step(parameters, policy_.loss(decisions, {}).gradient);
      policy_.set_parameters(std::move(parameters));
    }
  }

  /// With generalised advantages (Schulman et al., arXiv 1506.02438), the reward coming with the last choice.
  void add_decisions(const Episode& episode, double reward, std::vector<Decision>& decisions) const {
    double next = reward;
    double advantage = 0;
    for (auto d = episode.decisions.rbegin(); d != episode.decisions.rend(); ++d) {
      const double value = policy_.value(d->state, d->field);
      advantage = next - value + decay * advantage;
      decisions.push_back(*d);
      decisions.back().advantage = advantage;
      decisions.back().goal = value + advantage;
      next = value;
    }
  }

  /// To mean 0 and variance 1.
  static void normalise(std::vector<Decision>& decisions) {
    const auto count = static_cast<double>(decisions.size());
    double mean = 0;
    for (const Decision& decision : decisions) {
      mean += decision.advantage / count;
    }
    double squares = 0;
    for (const Decision& decision : decisions) {
      squares += (decision.advantage - mean) * (decision.advantage - mean) / count;
    }
    for (Decision& decision : decisions) {
      decision.advantage = (decision.advantage - mean) / std::max(1e-9, std::sqrt(squares));
    }
  }

  Problem problem_;
  View view_;
  ActorCritic policy_;
  Adam adam_;
  base::RandomStream random_;
  std::map<Point, double> logs_;  ///< of epochs; infinite where a plan is not feasible
  std::deque<std::vector<Episode>> batches_;
};

}  // namespace

std::unique_ptr<Strategy> make_policy_search(const Problem& problem) {
  return std::make_unique<PolicySearch>(problem);
}

}  // namespace gnomon::tuner
