#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/profile.h"

namespace gnomon::tuner {

/// A comparison of plans during a training.
struct Replanned {
  std::int64_t epoch = 1;        ///< counted from 1
  std::int64_t batches = 0;      ///< trained before it in the epoch
  std::string from, to;          ///< plans; equal if the plan remains
  double drift = 1;              ///< measured over expected time of the previous stretches
  profiles::Corrections stages;  ///< measured over profiled stage times
  /// Predicted relative gain of `to`, by the corrected profile; below 0 if the turns showed that a plan is
  /// faster which is predicted to be slower.
  double predicted_gain = 0;
  std::optional<double> gain{};  ///< measured in turns; absent without turns, or if the plan remains
  /// Measured seconds of a mini-batch: over the stretches before, whose times deviated, and over as many
  /// after the change. Absent if the plan remains, the latter also until they have been trained.
  std::optional<double> before_batch_s{};
  std::optional<double> after_batch_s{};
  int turns = 0;       ///< number of turns measured
  double extra_s = 0;  ///< their cost: excess over the best plan's time

  bool is_change() const { return from != to; }
  /// The relative gain that the change brought in the training itself; none as long as it is not known.
  std::optional<double> brought() const {
    return before_batch_s && after_batch_s ? std::optional(1 - *after_batch_s / *before_batch_s)
                                           : std::nullopt;
  }

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("epoch", self.epoch);
    f("batches", self.batches);
    f("from", self.from);
    f("to", self.to);
    f("drift", self.drift);
    f("stages", self.stages);
    f("predicted_gain", self.predicted_gain);
    f("gain", self.gain);
    f("before_batch_s", self.before_batch_s);
    f("after_batch_s", self.after_batch_s);
    f("turns", self.turns);
    f("extra_s", self.extra_s);
  }
};

/// The document of all comparisons of a training.
struct ReplanningLog {
  static constexpr std::string_view schema = "gnomon.replanning/1";
  std::vector<Replanned> comparisons;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("comparisons", self.comparisons);
  }
};

}  // namespace gnomon::tuner
