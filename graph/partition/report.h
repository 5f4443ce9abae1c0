#pragma once

#include <cstdint>
#include <vector>

#include "base/document.h"
#include "base/progress.h"
#include "graph/graph.h"
#include "graph/partition/macro_batches.h"
#include "graph/partition/partition.h"
#include "graph/partition/quality.h"

namespace gnomon::graph {

/// The macro-batches that a report is about.
struct MacroRequest {
  int resident = 4;      ///< parts of a macro-batch
  double hub_ratio = 0;  ///< share of the vertices that are resident beside every macro-batch
  int hub_steps = 3;     ///< of the random walk that chooses them, one for each layer of the model

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("resident", self.resident);
    f("hub_ratio", self.hub_ratio);
    f("hub_steps", self.hub_steps);
  }
};

/// What a partition is worth.
struct PartitionReport {
  static constexpr std::string_view schema = "gnomon.partition_report/1";
  PartitionRequest partition;
  MacroRequest macro;
  PartitionQuality quality;
  std::vector<WorkingSet> macro_batches;  ///< of the first epoch

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("partition", self.partition);
    f("macro", self.macro);
    f("quality", self.quality);
    f("macro_batches", self.macro_batches);
  }
};

/// Reads all edges twice, and once more for each step of the walk if there are hubs. Throws base::InputError
/// if more parts are to be resident than there are; what `progress` throws ends it.
PartitionReport report_on(const Graph& graph, const PartOf& part_of, const PartitionRequest& partition,
                          const MacroRequest& macro, const base::Progress& progress = {});

/// Throws base::InputError if more parts are to be resident than there are.
void check_resident(const MacroRequest& macro, int parts);

}  // namespace gnomon::graph
