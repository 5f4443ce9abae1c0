#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/patch.h"
#include "base/progress.h"
#include "plan/plan.h"
#include "profiles/profile.h"
#include "schedule/timeline.h"
#include "sim/prediction.h"

namespace gnomon::apps {

/// A profile to explore.
struct ExploredProfile {
  base::Json document;         ///< patched and parsed again for each combination
  std::string where;           ///< its file, for errors
  std::vector<Setting> names;  ///< columns that tell its rows from those of other profiles
};

/// What is asked of the simulator: every plan on every profile with every combination of the sweeps' values.
struct ExplorationRequest {
  std::vector<ExploredProfile> profiles;
  std::vector<plan::Plan> plans;
  std::vector<Sweep> sweeps;  ///< "plan.…" changes the plan, any other path the profile
  std::uint64_t seed = 0;
  bool with_timeline = false;
  int jobs = 0;  ///< processes; 0: as many as there are cores
};

/// One plan with one combination. Either predicted or not possible on that machine, and why.
struct ExplorationRow {
  plan::Plan plan;
  std::vector<Setting> settings;  ///< the profile's names, then the sweeps' values
  std::optional<sim::Prediction> prediction;
  std::string why_not;
};

/// Predicts them all, profile by profile and combination by combination, whatever the number of processes
/// with the same result. Throws InputError where a path or
/// value is wrong, or when no row at all is possible.
std::vector<ExplorationRow> explore(const ExplorationRequest& request, const base::Progress& progress);

/// The plans of a list: preset names and plan files separated by commas, or "all". Throws InputError.
std::vector<plan::Plan> plans_of(const std::string& list);

/// The rows as flat objects, one column a swept field, for CSV and JSON.
std::vector<base::Json> flat_rows(const std::vector<ExplorationRow>& rows);

/// The rows as an aligned table, with a line below it for each reason why a row was not possible.
std::string exploration_text(const std::vector<ExplorationRow>& rows);

/// "gnomon machine.cpu.cores=8".
std::string name_of(const ExplorationRow& row);

/// The rows' timelines, named by plan and settings.
std::vector<schedule::NamedTimeline> timelines_of(std::vector<ExplorationRow> rows);

}  // namespace gnomon::apps
