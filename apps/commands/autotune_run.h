#pragma once

#include <optional>
#include <string>

#include "apps/flags/measure_flags.h"
#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/profile.h"
#include "tuner/run/run_directory.h"

namespace gnomon::apps {

/// What the commands autotune and demo were asked for.
struct AutotuneRequest {
  std::string data;  ///< the graph, as the user named it
  tuner::RunFiles files;
  plan::Job job;
  MeasureFlags measure;
  double profile_share = 0.1;                         ///< of the training's time
  std::optional<profiles::Profile> profile{};         ///< takes the place of measurements
  std::optional<profiles::MachineProfile> machine{};  ///< as on which the plan is chosen
  bool replan = false;                                ///< the plan follows the machine
  bool json = false;                                  ///< print one document on stdout and nothing else
};

/// Runs tuner::autotune and prints what each phase found.
void autotune_and_print(const graph::Graph& graph, const AutotuneRequest& request);

}  // namespace gnomon::apps
