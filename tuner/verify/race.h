#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "tuner/search/preference.h"

namespace gnomon::tuner {

/// A plan in a race, with its predictions of an epoch and a turn.
struct Entrant {
  plan::Plan plan;
  double epoch_s = 0;
  double turn_s = 0;  ///< a turn: RaceTerms::turn_batches from an idle machine until all are trained
  /// Standard deviation by the profile's beliefs of the epoch's difference to the first entrant's, relative.
  double deviation = 0;
};

/// The conditions of a race.
struct RaceTerms {
  std::int64_t epoch_batches = 1;
  std::int64_t training_batches = 1;      ///< batches to train in all, those of the race included
  std::int64_t turn_batches = 1;          ///< mini-batches of one turn; at most an epoch
  double model_error = prediction_error;  ///< of a predicted epoch, relative
  double max_share = 0.25;                ///< maximum cost of the race, as a share of an epoch's time
  /// Turns that are shorter tell more of threads that wake up than of plans: with them no race starts.
  double min_turn_s = 0.01;
  double tolerance = 0.02;  ///< relative difference of epochs that does not matter
  double error = 0.05;      ///< probability of choosing a plan that is slower by more than `tolerance`
};

/// Finds the fastest of several plans while a training goes on: in each round every plan trains the next
/// mini-batches for one turn. A plan's epoch is its predicted epoch times its measured over its predicted
/// turns; so the start and end of a turn, when not all stages run, do not count against it.
///
/// A plan takes part if its expected gain exceeds the cost of measuring it. The gain is the knowledge
/// gradient (Frazier, Powell and Dayanik, SIAM Journal on Control and Optimization 47(5), 2008) by the errors
/// of predictions, times the batches to train; the cost is the idle stages at both ends of a turn and the
/// time by which the plan is slower. Thus a race that cannot pay off does not start.
///
/// Plans are compared round by round, as the machine's speed drifts for all of them, and eliminated by a
/// fully sequential test with an indifference zone: with probability 1 - `error` the plan that is left is not
/// slower than the fastest entrant by more than `tolerance` (Kim and Nelson, ACM Transactions on Modeling and
/// Computer Simulation 11(3), 2001, with one variance of all differences that is updated as in Operations
/// Research 54(3), 2006). The race may end before, undecided, as it takes at most `max_share` of an epoch and
/// three quarters of a training; then measurement and prediction are weighed by their errors: where turns
/// vary by a few percent the measured times decide, on a disturbed machine the predictions keep some weight.
/// The first round is a warm-up (memory, caches) and does not count; at least two more are needed to measure
/// how much turns vary, but plans that take a third longer in the first of them leave the race.
class PlanRace {
 public:
  /// The result of a turn.
  struct Measured {
    double seconds = 0;
    double relative_error = 0;  ///< relative standard error of `seconds` from the variation between batches
  };
  /// An entrant's result.
  struct Standing {
    std::size_t entrant = 0;
    double epoch_s = 0;         ///< as measured; as predicted if none of its turns counted
    double standard_error = 0;  ///< of epoch_s, relative, by its turns; 0 with fewer than two
    int turns = 0;              ///< that counted
  };

  /// The first entrant is the preferred one by prediction. Throws invalid_argument.
  PlanRace(std::vector<Entrant> entrants, const RaceTerms& terms);

  bool is_over() const { return order_.empty(); }
  /// The entrant whose turn it is. Precondition: the race is not over.
  const Entrant& next() const { return entrants_.at(order_.back()); }
  /// Whether the current turn counts.
  bool counts() const { return round_ > 0; }
  /// Reports the result of the current turn.
  void tell(const Measured& measured);
  /// Counts batches trained outside the race.
  void skip(std::int64_t batches) { trained_ += batches; }

  /// Whether the race ended by the test, so that its error holds.
  bool is_decided() const { return is_decided_; }
  /// The fastest of the plans that stayed longest; the first entrant if none was measured.
  const Entrant& best() const { return entrants_.at(leader_); }
  /// All entrants, the leader first.
  std::vector<Standing> standings() const;
  /// All turns, warm-up included, and their time.
  int num_turns() const { return num_turns_; }
  double seconds() const { return seconds_; }
  /// The excess over the best plan's steady-state time for the same batches.
  double extra_s() const;

 private:
  double epoch_s(std::size_t entrant) const;
  double turn_overhead_s(std::size_t entrant) const;
  double degrees() const;
  double variance() const;
  bool is_eliminated(std::size_t entrant) const;
  double boundary() const;
  double predicted_variance(std::size_t entrant) const;
  double common_shift() const;
  double believed_log(std::size_t entrant) const;
  std::size_t believed_best() const;
  bool is_worth_a_race(std::size_t entrant) const;
  void end_round();
  void begin_round();

  std::vector<Entrant> entrants_;
  RaceTerms terms_;
  std::vector<std::vector<double>> logs_;  ///< of each entrant's measured epochs, round by round
  std::vector<int> taken_;                 ///< turns of each entrant
  std::vector<std::size_t> remaining_;     ///< still in the race
  std::vector<std::size_t> order_;         ///< of this round, the next one last
  std::size_t leader_ = 0;
  std::size_t starters_ = 1;  ///< entrants of the first round
  bool is_decided_ = false;
  int round_ = 0;  ///< 0 is the warm-up
  int num_turns_ = 0;
  int counted_ = 0;
  std::int64_t trained_ = 0;
  double seconds_ = 0;
  double within_variance_ = 0;  ///< sum over counted turns of the squared relative errors
};

/// Returns the number of mini-batches of a turn, at most an epoch: large enough that idle stages at its ends
/// take at most a tenth. `turn_s` predicts the time of a turn of a given number of batches.
template <class Predict>
std::int64_t turn_batches_of(std::int64_t epoch_batches, double epoch_s, const Predict& turn_s) {
  std::int64_t turn = 8;
  const double batch_s = epoch_s / static_cast<double>(epoch_batches);
  while (turn < epoch_batches && 0.9 * turn_s(turn) > static_cast<double>(turn) * batch_s) {
    turn += turn / 2;
  }
  return turn < epoch_batches ? turn : epoch_batches;
}

}  // namespace gnomon::tuner
