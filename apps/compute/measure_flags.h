#pragma once

#include <CLI/CLI.hpp>

#include "apps/compute/device_flags.h"

namespace gnomon::apps {

/// How precisely and how long to measure.
struct MeasureFlags {
  double interval = 0.02;
  double time_limit_s = 20;
  DeviceFlags device;
};

/// Declares --interval, --time-limit and the device's flags.
void add_measure_flags(CLI::App& app, MeasureFlags& flags);

}  // namespace gnomon::apps
