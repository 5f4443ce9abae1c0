#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "base/progress.h"
#include "graph/graph.h"
#include "plan/plan.h"
#include "profiles/profile.h"
#include "runtime/cache/cache_use.h"
#include "runtime/device_options.h"
#include "tuner/run/validation.h"

namespace gnomon::tuner {

/// A preset that was run.
struct ComparedPreset {
  std::string preset;
  Validated epochs;  ///< predicted and measured
  /// Measured epoch relative to that of the fastest preset, minus 1.
  double over_best = 0;
  runtime::CacheUse cache;  ///< of the last epoch of the training
  double test_accuracy = 0, valid_accuracy = 0;
  std::string weights_hash;  ///< of the final weights
};

/// A preset that was not run.
struct LeftOutPreset {
  std::string preset;
  std::string why;
};

/// Presets on one device, for one graph and job.
struct Comparison {
  plan::DeviceKind device = plan::DeviceKind::host;
  int trained_epochs = 0;
  std::vector<ComparedPreset> presets;  ///< the fastest first
  std::vector<LeftOutPreset> left_out;  ///< in the order of the request
};

struct ComparisonOptions {
  Rounds rounds{};  ///< measured epochs of each preset
  runtime::DeviceOptions device{};
  /// As in ValidationOptions.
  std::function<double(const plan::Plan& plan)> peak_memory{};
  base::Progress progress{};
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: throws Interrupted
};

/// Predicts each preset, trains it from the same initial weights for the epochs of the profile's job, then
/// measures epochs of all presets in turns (validate()). Presets that the device does not execute, that are
/// predicted not to fit in memory, or that run out of memory are left out with the reason. `profile` is of
/// the same graph and device. Throws InputError, Interrupted.
Comparison compare(const graph::Graph& graph, const profiles::Profile& profile,
                   const std::vector<plan::Plan>& presets, const ComparisonOptions& options);

/// One object for each preset, those that ran first: numbers, and null where there is none.
base::Json flat_rows(const Comparison& comparison);

/// The document "gnomon.comparison/1". `data` is the name that the user gave the graph.
base::Json to_document(const Comparison& comparison, const std::string& data);

}  // namespace gnomon::tuner
