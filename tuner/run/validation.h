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
#include "runtime/device_options.h"
#include "schedule/machine.h"
#include "schedule/timeline.h"

namespace gnomon::tuner {

/// One plan, predicted and run.
struct Validated {
  plan::Plan plan;  ///< resolved
  double predicted_s = 0;
  std::optional<double> predicted_interval_s{};  ///< sim::epoch_interval_s
  std::vector<double> measured_s{};              ///< epochs, one per round
  double median_s = 0;
  double predicted_bytes = 0;              ///< of host memory at the peak
  std::optional<double> measured_bytes{};  ///< by ValidationOptions::peak_memory
  /// The same of device memory, of the device that uses most; absent for devices in the host's memory.
  std::optional<double> predicted_device_bytes{}, measured_device_bytes{};
  std::vector<std::vector<schedule::StageSpan>> timelines{};  ///< of the first rounds
  schedule::StageTimes predicted_stages_s{};                  ///< means, including contention
  schedule::StageTimes measured_stages_s{};                   ///< means of all rounds

  /// predicted / measured - 1
  double error() const { return predicted_s / median_s - 1; }
};

/// The number of measured epochs per plan, whose median is reported: at least `min`, then more until each
/// plan has run for `seconds`, at most `max`.
struct Rounds {
  int min = 3;
  int max = 100;
  double seconds = 2;

  static Rounds exactly(int count) { return {count, count, 0}; }
};

/// Options of validate().
struct ValidationOptions {
  Rounds rounds{};
  runtime::DeviceOptions device{};
  /// Runs some mini-batches of a plan in a process of their own, and returns the maximum of its resident
  /// memory in bytes. Empty: memory is not measured.
  std::function<double(const plan::Plan& plan)> peak_memory{};
  base::Progress progress{};
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: throws Interrupted
};

/// Every runnable preset, and variants of them until there are at least eight plans that differ on this
/// machine: sequential CPU preparation, other numbers of workers and device threads, other look-aheads.
/// Resolved.
std::vector<plan::Plan> plans_to_validate(const plan::Cores& cores);

/// Predicts each plan, then runs real epochs of each, round-robin, so that machine drift affects all plans
/// alike. Throws InputError, Interrupted.
std::vector<Validated> validate(const graph::Graph& graph, const profiles::Profile& profile,
                                const std::vector<plan::Plan>& plans, const ValidationOptions& options);

/// The corrections that follow from the runs' measured stage times.
profiles::Corrections corrections_by(const std::vector<Validated>& results, const profiles::Profile& profile);

/// Adds the first rounds to the user's history (learned_profile.h).
void add_to_history(const std::vector<Validated>& results, const profiles::Profile& profile);

/// The relative standard error of predicted epochs on the profile `corrected`: the root mean square error of
/// the plans when predicted on it, at least 0.01.
double prediction_error_by(const std::vector<Validated>& results, const profiles::Profile& corrected);

/// Number of mini-batches after which a plan's memory has essentially reached its peak.
inline constexpr std::int64_t peak_memory_batches = 60;

/// Mean of |error| over the plans.
double mean_absolute_error(const std::vector<Validated>& results);

/// The document "gnomon.validation/1". `data` and `profile` are the names that the user gave them.
base::Json to_document(const std::vector<Validated>& results, const std::string& data,
                       const std::string& profile);

}  // namespace gnomon::tuner
