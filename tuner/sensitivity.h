#pragma once

#include <functional>
#include <optional>
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

/// Improvements of a profiled machine: more cores, faster CPU preparation and training, and with a GPU a
/// faster link and more memory.
std::vector<Change> changes_of(const profiles::Profile& profile);

/// The profile with an epoch of at most `batches` mini-batches.
profiles::Profile shortened(profiles::Profile profile, std::int64_t batches);

/// The effect of one change.
struct Sensitivity {
  std::string change;
  std::optional<double> share{};  ///< relative change of the epoch; negative if it becomes shorter
  std::string why_not{};          ///< why it could not be computed, without a share
};

/// Options for searching and predicting on a changed profile.
struct SearchSetup {
  std::function<SpaceRequest(const profiles::Profile&)> request;
  std::function<sim::Prediction(const profiles::Profile&, const plan::Plan&)> predict;
  int processes = 1;  ///< processes that search in parallel, one change each
};

/// Computes the effect of each change on the best epoch, sorted by effect, followed by those that could not
/// be computed. A new search is run for each change, which may require other workers or buffers, and an
/// equally long one for the unchanged profile. Every plan found is evaluated on all profiles, so that
/// differences are not due to search luck. Epochs are cut to 400 batches.
std::vector<Sensitivity> sensitivities(const profiles::Profile& profile, const plan::Plan& plan,
                                       const SearchSetup& setup);

}  // namespace gnomon::tuner
