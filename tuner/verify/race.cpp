#include "tuner/verify/race.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "tuner/models/gaussian_process.h"

namespace gnomon::tuner {
namespace {

/// Minimum gain, relative to the training, that is worth a race.
constexpr double min_gain = 1e-3;

/// Maximum share of a training's mini-batches that a race takes.
constexpr double max_training_share = 0.75;

/// Minimum number of rounds, without the warm-up, before the test may eliminate a plan.
constexpr std::size_t min_rounds = 2;

/// Difference of logarithms beyond which one round eliminates a plan: some times what turns vary by.
constexpr double clearly_slower = 0.3;

/// Precondition: not empty.
double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) {
    squares += std::pow(value - mean(values), 2);
  }
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

}  // namespace

PlanRace::PlanRace(std::vector<Entrant> entrants, const RaceTerms& terms)
    : entrants_(std::move(entrants)), terms_(terms), logs_(entrants_.size()), taken_(entrants_.size(), 0) {
  if (entrants_.empty() || terms.turn_batches < 1 || terms.turn_batches > terms.epoch_batches) {
    throw std::invalid_argument("a race needs an entrant, and turns of at most an epoch");
  }
  remaining_.resize(entrants_.size());
  std::iota(remaining_.begin(), remaining_.end(), std::size_t{0});
  std::erase_if(remaining_, [this](std::size_t e) { return e != leader_ && !is_worth_a_race(e); });
  const auto rounds = static_cast<double>(min_rounds + 1);
  const auto most =
      static_cast<std::int64_t>(max_training_share * static_cast<double>(terms.training_batches) /
                                (rounds * static_cast<double>(terms.turn_batches)));
  const bool can_tell = entrants_.front().turn_s >= terms.min_turn_s;
  remaining_.resize(
      static_cast<std::size_t>(std::clamp<std::int64_t>(can_tell ? most : 1, 1, std::ssize(remaining_))));
  starters_ = remaining_.size();
  begin_round();
}

/// As measured, or as predicted without measurement.
double PlanRace::epoch_s(std::size_t entrant) const {
  return logs_[entrant].empty() ? entrants_[entrant].epoch_s : std::exp(mean(logs_[entrant]));
}

double PlanRace::turn_overhead_s(std::size_t entrant) const {
  const auto& [plan, epoch_s, turn_s, deviation] = entrants_[entrant];
  const double share = static_cast<double>(terms_.turn_batches) / static_cast<double>(terms_.epoch_batches);
  return std::max(0.0, turn_s - share * epoch_s);
}

/// Degrees of freedom of variance().
double PlanRace::degrees() const {
  return 1 + static_cast<double>(remaining_.size() - 1) * static_cast<double>(logs_[leader_].size() - 1);
}

/// Variance of the difference of two plans' logarithms in one round: the residual variance after removing the
/// plans' and rounds' means, with the variation between batches as one more observation.
double PlanRace::variance() const {
  const auto plans = static_cast<double>(remaining_.size());
  double squares = within_variance_ / std::max(1, counted_);
  std::vector<double> means;
  for (const std::size_t e : remaining_) {
    means.push_back(mean(logs_[e]));
  }
  for (std::size_t round = 0; round < logs_[leader_].size(); ++round) {
    double shift = 0;
    for (std::size_t i = 0; i < remaining_.size(); ++i) {
      shift += (logs_[remaining_[i]][round] - means[i]) / plans;
    }
    for (std::size_t i = 0; i < remaining_.size(); ++i) {
      const double rest = logs_[remaining_[i]][round] - means[i] - shift;
      squares += rest * rest;
    }
  }
  return 2 * squares / degrees();
}

/// How far the sums of two plans' logarithms may be apart before the larger one is eliminated: the triangular
/// boundary of Kim and Nelson with c = 1. It falls to 0.
double PlanRace::boundary() const {
  const double tolerance = std::log1p(terms_.tolerance);
  const double others = static_cast<double>(std::max<std::size_t>(2, starters_)) - 1;
  const double eta = (std::pow(2 * terms_.error / others, -2 / degrees()) - 1) / 2;
  const double rounds = 2 * eta * degrees() * variance() / (tolerance * tolerance);
  return std::max(0.0, tolerance / 2 * (rounds - static_cast<double>(logs_[leader_].size())));
}

bool PlanRace::is_eliminated(std::size_t entrant) const {
  double fastest = std::numeric_limits<double>::infinity();
  for (const std::size_t e : remaining_) {
    fastest = std::min(fastest, mean(logs_[e]));
  }
  const double lead = mean(logs_[entrant]) - fastest;
  return lead > 0 && lead * static_cast<double>(logs_[entrant].size()) >= boundary();
}

/// Variance of the logarithm of a predicted epoch over that of the first entrant.
double PlanRace::predicted_variance(std::size_t entrant) const {
  return 2 * terms_.model_error * terms_.model_error +
         entrants_[entrant].deviation * entrants_[entrant].deviation;
}

/// By how much all plans still in the race take longer than predicted, by their logarithms.
double PlanRace::common_shift() const {
  double shift = 0;
  for (const std::size_t e : remaining_) {
    shift += mean(logs_[e]) - std::log(entrants_[e].epoch_s);
  }
  return shift / static_cast<double>(remaining_.size());
}

/// The logarithm of an epoch: the measured and the predicted one, shifted as all plans are, by their
/// precisions.
double PlanRace::believed_log(std::size_t entrant) const {
  const double predicted = std::log(entrants_[entrant].epoch_s) + common_shift();
  const double measured_variance = variance() / static_cast<double>(logs_[entrant].size());
  const double weight = predicted_variance(entrant) / (predicted_variance(entrant) + measured_variance);
  return predicted + weight * (mean(logs_[entrant]) - predicted);
}

/// The first plan, in the order of entrants, that is believed to be as fast as the fastest: what the race
/// cannot tell apart is chosen as without it.
std::size_t PlanRace::believed_best() const {
  double fastest = std::numeric_limits<double>::infinity();
  for (const std::size_t e : remaining_) {
    fastest = std::min(fastest, believed_log(e));
  }
  auto in_order = remaining_;
  std::sort(in_order.begin(), in_order.end());
  return *std::find_if(in_order.begin(), in_order.end(), [&](std::size_t e) {
    return believed_log(e) <= fastest + std::log1p(terms_.tolerance / 2);
  });
}

/// By predictions.
bool PlanRace::is_worth_a_race(std::size_t entrant) const {
  const double epoch_s = entrants_[entrant].epoch_s;
  const double lead = std::log(epoch_s / entrants_[leader_].epoch_s);
  const double variance = predicted_variance(entrant);
  const double batch_s = entrants_[leader_].epoch_s / static_cast<double>(terms_.epoch_batches);
  const double left_s = batch_s * static_cast<double>(terms_.training_batches);
  const double gain_s = left_s * expected_improvement({lead, variance}, 0);
  const double slower_s =
      batch_s * static_cast<double>(terms_.turn_batches) * std::max(0.0, std::expm1(lead));
  const double cost_s = turn_overhead_s(entrant) + turn_overhead_s(leader_) + slower_s;
  return gain_s > std::max(min_gain * left_s, (1 + min_rounds) * cost_s);
}

void PlanRace::begin_round() {
  if (remaining_.size() < 2) {
    return;
  }
  // Alternating order, so that no plan is always first.
  order_ = remaining_;
  if (round_ % 2 == 0) {
    std::reverse(order_.begin(), order_.end());
  }
}

void PlanRace::tell(const Measured& measured) {
  const std::size_t entrant = order_.back();
  order_.pop_back();
  trained_ += terms_.turn_batches;
  seconds_ += measured.seconds;
  ++num_turns_;
  ++taken_[entrant];
  if (counts()) {
    const auto& predicted = entrants_[entrant];
    logs_[entrant].push_back(std::log(measured.seconds / predicted.turn_s * predicted.epoch_s));
    ++counted_;
    within_variance_ += measured.relative_error * measured.relative_error;
  }
  if (order_.empty()) {
    end_round();
  }
}

void PlanRace::end_round() {
  if (counts()) {
    leader_ = believed_best();
    if (logs_[leader_].size() < min_rounds) {
      std::erase_if(remaining_,
                    [this](std::size_t e) { return mean(logs_[e]) - mean(logs_[leader_]) > clearly_slower; });
      is_decided_ = remaining_.size() == 1;
    } else {
      auto left = remaining_;
      std::erase_if(left, [this](std::size_t e) { return is_eliminated(e); });
      is_decided_ = left.size() == 1 || boundary() <= 0;
      remaining_ = std::move(left);
      leader_ = believed_best();
    }
  }
  ++round_;
  const auto to_train = terms_.training_batches - trained_;
  const bool has_told = logs_[leader_].size() >= min_rounds;
  const bool is_spent =
      (has_told && extra_s() > terms_.max_share * epoch_s(leader_)) ||
      static_cast<double>(trained_) > max_training_share * static_cast<double>(terms_.training_batches);
  if (!is_decided_ && !is_spent && to_train >= terms_.turn_batches * std::ssize(remaining_)) {
    begin_round();
  }
}

std::vector<PlanRace::Standing> PlanRace::standings() const {
  std::vector<Standing> all;
  for (std::size_t e = 0; e < entrants_.size(); ++e) {
    const auto turns = logs_[e].size();
    const auto n = static_cast<double>(turns);
    const double error = turns > 1 ? deviation(logs_[e]) / std::sqrt(n) : 0;
    all.push_back({e, epoch_s(e), error, static_cast<int>(turns)});
  }
  const auto rank = [this](const Standing& s) {
    return std::tuple(s.entrant != leader_, s.turns == 0, s.epoch_s);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Standing& a, const Standing& b) { return rank(a) < rank(b); });
  return all;
}

/// Turns are compared with the plan's usual time, which includes the warm-up of any training in the first
/// ones.
double PlanRace::extra_s() const {
  const double batch_s = epoch_s(leader_) / static_cast<double>(terms_.epoch_batches);
  double extra_s = 0;
  for (std::size_t e = 0; e < entrants_.size(); ++e) {
    const double usual_s = entrants_[e].turn_s * epoch_s(e) / entrants_[e].epoch_s;
    extra_s += taken_[e] * (usual_s - batch_s * static_cast<double>(terms_.turn_batches));
  }
  return extra_s;
}

}  // namespace gnomon::tuner
