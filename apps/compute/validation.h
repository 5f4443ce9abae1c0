#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "plan/plan.h"
#include "profiles/profile.h"
#include "runtime/device_options.h"
#include "schedule/machine.h"
#include "schedule/timeline.h"

namespace gnomon::apps {

/// One plan, predicted and run.
struct Validated {
  plan::Plan plan;  ///< resolved
  double predicted_s = 0;
  std::vector<double> measured_s{};  ///< epochs, one a round
  double median_s = 0;
  std::vector<schedule::StageSpan> timeline{};  ///< of the first round
  schedule::StageTimes predicted_stages_s{};    ///< means, with what runs beside them
  schedule::StageTimes measured_stages_s{};     ///< of all rounds

  /// predicted / measured - 1
  double error() const { return predicted_s / median_s - 1; }
};

/// Every preset, and variants of them until there are at least eight plans that differ on this machine:
/// sequential CPU batching, the other numbers of workers and device threads, other look-aheads. Resolved.
std::vector<plan::Plan> plans_to_validate(const plan::Cores& cores);

/// Predicts each plan, then runs `rounds` epochs of each for real, plan after plan in every round so that a
/// machine that drifts drifts for all. Shows a progress bar; Ctrl-C throws Interrupted.
std::vector<Validated> validate_plans(const graph::Graph& graph, const profiles::Profile& profile,
                                      const std::vector<plan::Plan>& plans, int rounds,
                                      const runtime::DeviceOptions& device);

/// By how much the runs' stages differed from what was predicted of them.
profiles::Corrections corrections_by(const std::vector<Validated>& results, const profiles::Profile& profile);

/// Mean of |error| over the plans.
double mean_absolute_error(const std::vector<Validated>& results);

std::string text_of(const std::vector<Validated>& results);

/// gnomon.validation/1
base::Json to_document(const std::vector<Validated>& results, const std::string& data,
                       const std::string& profile);

}  // namespace gnomon::apps
