#pragma once

#include <map>
#include <string>

#include "base/progress.h"
#include "base/temporary_directory.h"
#include "graph/graph.h"
#include "plan/plan.h"

namespace gnomon::reproduce {

/// Stores ordered by part, in a temporary directory, of graphs whose plans read macro-batches from the disk.
/// Plans with equal parts share a store.
class PartedStores {
 public:
  /// Returns the graph that `plan` trains on: `graph`, or its store by the plan's parts, written when it is
  /// first needed, with the hubs of models of `layers` layers. Throws InputError if the graph has fewer
  /// vertices than the plan has parts.
  const graph::Graph& graph_for(const graph::Graph& graph, const plan::Plan& plan, int layers,
                                const base::Progress& progress);

 private:
  base::TemporaryDirectory directory_;
  std::map<std::string, graph::Graph> stores_;
};

}  // namespace gnomon::reproduce
