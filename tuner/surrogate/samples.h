#pragma once

#include <cstdint>
#include <vector>

#include "base/progress.h"
#include "profiles/profile.h"
#include "tuner/surrogate/learned.h"

namespace gnomon::tuner {

/// The plans that a surrogate learns from, in addition to the presets.
struct SampleOptions {
  int plans = 100;  ///< random plans of each profile
  std::uint64_t seed = 0;
};

/// The runnable presets and random plans on each profile, with epochs by arithmetic. Epochs are cut to 400
/// batches, as throughput hardly depends on more. What `progress` throws ends it (base::stoppable).
std::vector<LearnedSample> samples_of(const std::vector<profiles::Profile>& profiles,
                                      const SampleOptions& options, const base::Progress& progress);

}  // namespace gnomon::tuner
