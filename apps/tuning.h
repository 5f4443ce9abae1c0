#pragma once

#include <string>

#include "base/document.h"
#include "sim/prediction.h"
#include "tuner/tuner.h"

namespace gnomon::apps {

/// Searches the best plan for a profile, with a progress bar; Ctrl-C throws Interrupted.
tuner::TuneResult tune_with_bar(const profiles::Profile& profile, sim::Simulator& simulator);

/// The numbers of one prediction, the timeline left out.
base::Json prediction_document(const sim::Prediction& prediction);

/// The document "gnomon.tuning/1".
base::Json tuning_document(const tuner::TuneResult& result);

/// The compared plans as a table, the fastest first, and what was found.
std::string tuning_text(const tuner::TuneResult& result);

/// How far an epoch is over its lower bound, "3.2 %".
std::string over_bound(const sim::Prediction& prediction);

}  // namespace gnomon::apps
