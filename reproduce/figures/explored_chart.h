#pragma once

#include "base/progress.h"
#include "reproduce/figures/chart.h"
#include "reproduce/figures/figure_document.h"

namespace gnomon::reproduce {

/// Returns the charts of an explored panel: one or, of timelines, one for each series. y is a column of
/// `gnomon explore`, a product "a*b" of columns, "stage.train" for the seconds of all stages of a kind, or
/// "memory.device.cache_bytes" for a part of the memory. A series that is not possible at some x is `missing`
/// there. Throws InputError if nothing of the panel is possible, or if a
/// field or column is not known.
std::vector<Chart> explored_charts(const PanelSource& panel, const base::Progress& progress);

}  // namespace gnomon::reproduce
