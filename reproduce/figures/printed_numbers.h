#pragma once

#include <vector>

#include "reproduce/figures/chart.h"
#include "reproduce/figures/figure_document.h"

namespace gnomon::reproduce {

/// Marks the numbers that the panel's document prints in its chart: those that a claim has, or the others.
/// Throws InputError for a category that is not in the chart.
void add_printed(Chart& chart, const PanelSource& panel, bool in_claim);

/// Adds the errors, |predicted / printed - 1|, of the points that stand beside printed ones of the same
/// series and x.
void add_errors(const Chart& chart, std::vector<double>& errors);

}  // namespace gnomon::reproduce
