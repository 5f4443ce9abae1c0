#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/prediction.h"
#include "tuner/search/search.h"
#include "tuner/space/space.h"

namespace gnomon::tuner {

/// A profile with one change.
struct Change {
  std::string name;  ///< "8 more cores"
  profiles::Profile profile;
};

/// Improvements of a profiled machine: more cores, faster CPU batching, training or link, more device memory,
/// as far as the profile has them.
std::vector<Change> changes_of(const profiles::Profile& profile);

/// The profile with an epoch of at most `batches` mini-batches.
profiles::Profile shortened(profiles::Profile profile, std::int64_t batches);

/// The effect of one change.
struct Sensitivity {
  std::string change;
  double share = 0;  ///< relative change of the epoch; negative if it becomes shorter
};

/// How to search and predict on a changed profile.
struct SearchSetup {
  std::function<SpaceRequest(const profiles::Profile&)> request;
  std::function<sim::Prediction(const profiles::Profile&, const plan::Plan&)> predict;
  int processes = 1;  ///< processes that search in parallel, one change each
};

/// The effect of each change on the epoch of a plan, or of a better plan that a short search finds for the
/// changed profile (which may need other workers or buffers); the best first. Epochs are cut to 400 batches.
std::vector<Sensitivity> sensitivities(const profiles::Profile& profile, const plan::Plan& plan,
                                       const SearchSetup& setup);

}  // namespace gnomon::tuner
