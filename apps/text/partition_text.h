#pragma once

#include <string>

#include "base/document.h"
#include "graph/graph.h"
#include "graph/partition/report.h"
#include "sim/costs/macro_read.h"

namespace gnomon::apps {

/// The simulator's estimate of what a macro-batch of the report reads.
sim::MacroRead simulated_read(const graph::Graph& graph, const graph::PartitionReport& report);

/// A report beside the simulator's numbers: as text, and as the report's document with "simulated" added.
std::string partition_text(const graph::PartitionReport& report, const sim::MacroRead& simulated);
base::Json partition_document(const graph::PartitionReport& report, const sim::MacroRead& simulated);

}  // namespace gnomon::apps
