#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "apps/compute/device_flags.h"
#include "apps/run_directory.h"
#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/profile.h"

namespace gnomon::apps {

/// How carefully and how long to measure.
struct MeasureFlags {
  double interval = 0.02;
  double time_limit_s = 20;
  DeviceFlags device;
};

/// Declares --interval, --time-limit and those of the device.
void add_measure_flags(CLI::App& app, MeasureFlags& flags);

/// Measures with a progress bar; Ctrl-C throws Interrupted.
profiles::Profile measure_with_bar(const graph::Graph& graph, const plan::Job& job,
                                   const MeasureFlags& flags);

/// profile → tune → train.
struct Autotuning {
  std::string data;  ///< as the user named it
  RunFiles files;
  plan::Job job;
  MeasureFlags measure;
  bool json = false;  ///< one document on stdout and nothing else
};

/// Runs all three steps, prints what each found, and leaves every document and the trace in the run's
/// directory.
void autotune(const graph::Graph& graph, const Autotuning& request);

}  // namespace gnomon::apps
