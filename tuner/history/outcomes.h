#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document.h"
#include "plan/regime.h"
#include "plan/vocabulary.h"
#include "profiles/corrections.h"
#include "profiles/machine_key.h"
#include "profiles/profile.h"
#include "tuner/verify/correction.h"

namespace gnomon::tuner {

/// The version of predicted stage times: increased when they change, as outcomes of others teach nothing of
/// them.
inline constexpr int predictions_version = 1;

/// A plan's stages in a finished run, over their predicted times.
struct PlanOutcome {
  std::string plan;  ///< its name
  plan::Regime regime;
  profiles::Corrections stages;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("plan", self.plan);
    f.required("regime", self.regime);
    f.required("stages", self.stages);
  }
};

/// What a finished run leaves: its measured stage times over the predicted ones, and what they are learned
/// from.
struct Outcomes {
  static constexpr std::string_view schema = "gnomon.outcomes/1";
  int predictions = predictions_version;
  profiles::MachineKey machine;
  plan::DeviceKind device = plan::DeviceKind::host;
  std::string graph;                  ///< graph_of() in tuner/surrogate/learned.h
  std::vector<std::string> inputs{};  ///< names of `values`
  std::vector<double> values{};       ///< workload_inputs() of the profile
  std::vector<PlanOutcome> plans{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("predictions", self.predictions, base::non_negative);
    f.required("machine", self.machine);
    f.required("device", self.device);
    f.required("graph", self.graph);
    f.required("inputs", self.inputs);
    f.required("values", self.values);
    f.required("plans", self.plans);
  }
};

/// The names and values of what a profile says of job, graph and machine (learned_inputs() without the plan),
/// and the times of its stages with the relative half widths of their intervals.
std::vector<std::pair<std::string, double>> workload_inputs(const profiles::Profile& profile);

/// The outcomes of real runs of the job that `profile` was measured for, predicted without its corrections.
/// Runs of one plan are compared together; plans of which nothing can be said are left out.
Outcomes outcomes_of(const std::vector<RealRun>& runs, const profiles::Profile& profile,
                     const profiles::MachineKey& machine, sim::Simulator& simulator);

/// Throws InputError if inputs and values differ in number.
void check(const Outcomes& outcomes, const std::string& where);

}  // namespace gnomon::tuner
