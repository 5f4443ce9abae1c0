#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace gnomon::profiles {

struct Profile;

/// What can be measured in a round of profiles::measure().
struct Measurement {
  std::string name;  ///< "training with 2 threads"
  std::vector<std::string>
      informs;         ///< names of quantities (profiles/beliefs.h); empty: of no choice of a plan
  double seconds = 0;  ///< expected duration of taking it once, by earlier rounds
  int taken = 0;
};

/// Standard deviation of the logarithm of what one round measures, where its own variation is not known.
inline constexpr double round_deviation = 0.08;

/// Chooses what to measure in the next round, by index; no index ends the rounds. The first measurement, of
/// the stages alone, is part of every round. `profile` holds what is known so far, with beliefs of
/// everything else.
using ChooseMeasurements = std::function<std::vector<std::size_t>(
    const Profile& profile, std::span<const Measurement> measurements, double seconds_left)>;

}  // namespace gnomon::profiles
