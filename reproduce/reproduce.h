#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "reproduce/paper.h"
#include "reproduce/report.h"
#include "sim/simulator.h"

namespace gnomon::reproduce {

/// Returns the names of the papers that reproduce() accepts, separated by commas.
std::string known_papers();

/// Returns the report of a paper or, for "all", of each. `baselines` are columns to predict from instead of
/// the paper's. Throws InputError for an unknown name and for unusable baselines.
std::vector<Report> reproduce(sim::Simulator& simulator, std::string_view paper,
                              const std::optional<Paper>& baselines, const base::Progress& progress);

/// `{"schema", "reports": […]}`.
base::Json to_json(const std::vector<Report>& reports);

}  // namespace gnomon::reproduce
