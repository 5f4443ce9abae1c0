#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.h"
#include "profiles/profile.h"
#include "schedule/machine.h"
#include "sim/simulator.h"

namespace gnomon::tuner {

/// A stage with a correction, and the field that holds it.
struct CorrectedStage {
  schedule::Stage stage;
  std::optional<profiles::Correction> profiles::Corrections::*correction;
};
inline constexpr std::array<CorrectedStage, schedule::num_basic_stages> corrected_stages{
    {{schedule::Stage::cpu_batch, &profiles::Corrections::cpu_batch},
     {schedule::Stage::transfer, &profiles::Corrections::transfer},
     {schedule::Stage::device_batch, &profiles::Corrections::device_batch},
     {schedule::Stage::train, &profiles::Corrections::train}}};

/// A real run: successive mini-batches trained by one plan on an idle machine.
struct RealRun {
  plan::Plan plan;  ///< resolved
  std::int64_t batches = 0;
  std::vector<schedule::StageSpan> timeline;
};

/// The ratios of measured to predicted stage times, contention included: for each stage, its total time in
/// the real runs over its total time when the same runs are simulated. As the ratios change which stages run
/// side by side, they are applied and the runs are simulated again until they change by less than a
/// thousandth. The standard error of a ratio is that of a quotient of means, over batches or over runs,
/// whichever is larger, as batches of one run are not independent. Corrections in the profile are ignored;
/// stages that ran for fewer than two batches get none, nor do those whose standard error is not below the
/// ratio.
profiles::Corrections corrections_by(const std::vector<RealRun>& runs, const profiles::Profile& profile,
                                     sim::Simulator& simulator);

}  // namespace gnomon::tuner
