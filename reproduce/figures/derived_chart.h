#pragma once

#include <vector>

#include "reproduce/figures/chart.h"
#include "reproduce/figures/figure_document.h"

namespace gnomon::reproduce {

/// Computes a panel's chart from the one it is derived `from`, of its predicted series or, of a series that
/// is only printed, of these (Derived in figure_document.h). Throws InputError if `charts` has no such chart
/// or that has no base of this name.
Chart derived_chart(const PanelSource& panel, const std::vector<Chart>& charts);

}  // namespace gnomon::reproduce
