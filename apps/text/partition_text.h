#pragma once

#include <string>
#include <vector>

#include "base/document.h"
#include "graph/graph.h"
#include "graph/partition/report.h"
#include "sim/costs/macro_read.h"

namespace gnomon::apps {

/// What the simulator takes each of the report's macro-batches to read.
std::vector<sim::MacroRead> simulated_reads(const graph::Graph& graph, const graph::PartitionReport& report);

/// A report beside the simulator's numbers: as text, and as the report's document with "simulated" added.
std::string partition_text(const graph::PartitionReport& report,
                           const std::vector<sim::MacroRead>& simulated);
base::Json partition_document(const graph::PartitionReport& report,
                              const std::vector<sim::MacroRead>& simulated);

}  // namespace gnomon::apps
