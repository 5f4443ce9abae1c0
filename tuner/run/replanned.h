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
  double predicted_gain = 0;     ///< predicted relative gain of `to`, by the corrected profile
  std::optional<double> gain{};  ///< measured in turns; absent without turns, or if the plan remains
  int turns = 0;                 ///< number of turns measured
  double extra_s = 0;            ///< their cost: excess over the best plan's time

  bool is_change() const { return from != to; }

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
