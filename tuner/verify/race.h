#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "tuner/search/preference.h"

namespace gnomon::tuner {

/// A plan in a race, and what is predicted of it.
struct Entrant {
  plan::Plan plan;
  double epoch_s = 0;
  double piece_s = 0;  ///< of RaceTerms::piece batches from an idle machine until all are trained
};

/// What a race is about.
struct RaceTerms {
  std::int64_t epoch_batches = 1;
  std::int64_t training_batches = 1;  ///< that are to be trained, those of the race included
  std::int64_t piece = 1;             ///< batches after which plans take turns; at most an epoch's
  double model_error = prediction_error;
  double most_share = 0.25;  ///< of an epoch's time that the race may cost
};

/// Finds the fastest of some plans while a training goes on: they take turns at pieces of it, round by round.
/// A plan's measured pieces over their predicted time, times its predicted epoch, are its epoch: so a piece's
/// beginning and end, when not all stages run, do not count against it.
///
/// Plans are compared with the one that leads, round by round, as the machine's speed drifts for all.
/// Measurement and prediction are weighed by what each may be wrong by: where pieces vary by a few percent
/// the measured times decide, on a machine that is disturbed the predictions keep some weight. One plan
/// leaves when another round with it promises less than it costs: the gain is the knowledge gradient
/// (Frazier, Powell and Dayanik, SIAM Journal on Control and Optimization 47(5), 2008), by the variation that
/// was measured, times what is left to train; the cost are idle stages at both ends of a piece and the time
/// by which the plan is slower. So a race between plans that differ clearly is short, and one in a training
/// that could not repay it does not begin; nor does a race take more than half of a training. The first round
/// warms up (memory, caches) and does not count, and it takes two that count to tell how much pieces vary.
class Race {
 public:
  /// A piece's result.
  struct Measured {
    double seconds = 0;
    double relative_error = 0;  ///< standard error of `seconds` by how batches differed, relative
  };
  /// How an entrant did.
  struct Standing {
    std::size_t entrant = 0;
    double epoch_s = 0;         ///< as measured; as predicted when no piece of it counted
    double standard_error = 0;  ///< of epoch_s, relative, by its pieces; 0 with fewer than two
    int pieces = 0;             ///< that counted
  };

  /// `entrants`: the one to be taken by prediction alone first.
  Race(std::vector<Entrant> entrants, const RaceTerms& terms);

  bool is_over() const { return turns_.empty(); }
  /// Whose turn it is.
  const Entrant& next() const { return entrants_.at(turns_.back()); }
  /// Whether the piece in turn is one that counts.
  bool counts() const { return round_ > 0; }
  /// What came of the piece in turn.
  void tell(const Measured& measured);
  /// That so many batches were trained beside the race.
  void skip(std::int64_t batches) { trained_ += batches; }

  /// The fastest plan (of those that stayed longest); the first one when none was measured.
  const Entrant& best() const { return entrants_.at(leader_); }
  /// All entrants, the leader first.
  std::vector<Standing> standings() const;
  int pieces() const { return pieces_; }
  double seconds() const { return seconds_; }
  /// What the best plan would not have taken for the same batches, in the middle of an epoch.
  double extra_s() const;

 private:
  double epoch_s(std::size_t entrant) const;
  double piece_overhead_s(std::size_t entrant) const;
  double variance() const;
  double weight_of_measured() const;
  double believed_log(std::size_t entrant) const;
  double lead_over(std::size_t entrant) const;
  bool is_worth_a_round(std::size_t entrant) const;
  void end_round();
  void begin_round();

  std::vector<Entrant> entrants_;
  RaceTerms terms_;
  std::vector<std::vector<double>> logs_;  ///< of each entrant's measured epochs, round by round
  std::vector<int> taken_;                 ///< pieces of each entrant
  std::vector<std::size_t> running_;       ///< still in the race
  std::vector<std::size_t> turns_;         ///< of this round, the next one last
  std::size_t leader_ = 0;
  int round_ = 0;  ///< 0 warms up
  int pieces_ = 0;
  int counted_ = 0;
  std::int64_t trained_ = 0;
  double seconds_ = 0;
  double within_variance_ = 0;  ///< sum over counted pieces of the squared relative errors
};

/// Batches of a piece: so many that idle stages at its ends are a tenth of it or less, by `piece_s`, which
/// predicts a piece's time; at most an epoch.
template <class Predict>
std::int64_t piece_of(std::int64_t epoch_batches, double epoch_s, const Predict& piece_s) {
  std::int64_t piece = 8;
  const double batch_s = epoch_s / static_cast<double>(epoch_batches);
  while (piece < epoch_batches && 0.9 * piece_s(piece) > static_cast<double>(piece) * batch_s) {
    piece += piece / 2;
  }
  return piece < epoch_batches ? piece : epoch_batches;
}

}  // namespace gnomon::tuner
