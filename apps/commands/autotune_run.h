#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/compute/measure_flags.h"
#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/profile.h"
#include "tuner/evidence/measurement_choice.h"
#include "tuner/run/run_directory.h"

namespace gnomon::apps {

/// The options of the commands autotune and demo.
struct AutotuneRequest {
  std::string data;  ///< the graph, as the user named it
  tuner::RunFiles files;
  plan::Job job;
  MeasureFlags measure;
  double profile_share = 0.05;  ///< of the training's time
  tuner::MeasureOrder measure_order = tuner::MeasureOrder::value;
  std::optional<profiles::Profile> profile{};         ///< to use instead of measuring
  std::optional<profiles::MachineProfile> machine{};  ///< for which the plan is chosen
  bool replan = false;                                ///< re-plan during the training
  std::int64_t evaluate_every = 1;                    ///< epochs; 0: never
  bool json = false;                                  ///< print one document on stdout and nothing else
};

/// Runs tuner::autotune and prints the results of each phase.
void autotune_and_print(const graph::Graph& graph, const AutotuneRequest& request);

}  // namespace gnomon::apps
