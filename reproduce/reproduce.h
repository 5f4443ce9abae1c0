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

/// The names that reproduce() takes, separated by commas.
std::string known_papers();

/// The report of a paper, or of each for "all". `baselines`: other baselines' columns to predict from. Throws
/// InputError for a name that is not known, and where it cannot use the baselines.
std::vector<Report> reproduce(sim::Simulator& simulator, std::string_view paper,
                              const std::optional<Paper>& baselines, const base::Progress& progress);

/// `{"schema", "reports": […]}`.
base::Json to_json(const std::vector<Report>& reports);

}  // namespace gnomon::reproduce
