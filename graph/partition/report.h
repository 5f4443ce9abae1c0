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
  double hub_ratio = 0;  ///< share of the vertices that are always resident
  int hub_steps = 3;     ///< length of the random walks that select hubs: the model's number of layers

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("resident", self.resident);
    f("hub_ratio", self.hub_ratio);
    f("hub_steps", self.hub_steps);
  }
};

/// The quality of a partition and the working sets of its macro-batches.
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

/// Reads all edges twice, plus once per step of the walk if there are hubs. Throws base::InputError if
/// `resident` exceeds the number of parts; an exception of `progress` cancels it.
PartitionReport report_on(const Graph& graph, const PartOf& part_of, const PartitionRequest& partition,
                          const MacroRequest& macro, const base::Progress& progress = {});

/// Throws base::InputError if `resident` exceeds the number of parts.
void check_resident(const MacroRequest& macro, int parts);

}  // namespace gnomon::graph
