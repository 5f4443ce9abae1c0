#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "apps/compute/device_flags.h"
#include "graph/graph.h"
#include "tuner/run/run_directory.h"

namespace gnomon::apps {

/// A finished run, the graph to apply its model to, and how.
struct RunFlags {
  std::string run;
  std::string data;     ///< empty: the run's
  std::string weights;  ///< empty: the run's
  DeviceFlags device;

  tuner::RunFiles files() const { return {run}; }
};

/// Declares RUN, DATA, --weights and the device's flags.
void add_run_flags(CLI::App& app, RunFlags& flags);

/// Opens the graph DATA, by default that of the run's report, and checks its contents. Throws
/// base::InputError if RUN is no run or the graph cannot be opened.
graph::Graph open_run_data(const RunFlags& flags);

}  // namespace gnomon::apps
