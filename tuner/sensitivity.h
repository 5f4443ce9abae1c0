#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tuner/search/search.h"
#include "tuner/space/space.h"

namespace gnomon::tuner {

/// A machine or workload that differs from another in one thing.
struct Change {
  std::string name;  ///< "8 more cores"
  profiles::Profile profile;
};

/// What could be better about a profiled machine: more cores, faster CPU batching, device batching, training
/// or link, more device memory; of these what the profile has.
std::vector<Change> changes_of(const profiles::Profile& profile);

/// The same with an epoch of at most so many batches.
profiles::Profile shortened(profiles::Profile profile, std::int64_t batches);

struct Sensitivity {
  std::string change;
  double share = 0;  ///< of the epoch's time that it would add; negative when it would save
};

/// How searches are made on another profile.
struct Tuner {
  std::function<SpaceRequest(const profiles::Profile&)> request;
  std::function<sim::Prediction(const profiles::Profile&, const plan::Plan&)> predict;
  int processes = 1;  ///< that search side by side, one change each
};

/// What each change would do to the epoch of a plan, or of a better one that a short search finds then (a
/// change may ask for other workers or buffers), the best first. Epochs are cut to 400 batches.
std::vector<Sensitivity> sensitivities(const profiles::Profile& profile, const plan::Plan& plan,
                                       const Tuner& tuner);

}  // namespace gnomon::tuner
