#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/command.h"
#include "base/progress.h"
#include "reproduce/figures/drawn.h"

namespace gnomon::apps {

/// Draws figures, and measures on the graph store `data` or, if that is empty, on generated graphs.
using DrawMeasured = std::function<reproduce::DrawnPaper(
    sim::Simulator& simulator, const std::string& paper, const std::vector<std::string>& figures,
    const std::string& data, const base::Progress& progress)>;

/// Adds the command reproduce. Without `draw_measured`, it cannot measure.
Action add_reproduce_with(CLI::App& app, DrawMeasured draw_measured);

}  // namespace gnomon::apps
