#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "base/progress.h"
#include "graph/graph.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "reproduce/measure/parted_stores.h"
#include "runtime/training/trainer.h"

namespace gnomon::reproduce {

/// Trainings of plans on this machine's cores, each done once. Plans that read parts from the disk train on a
/// store of the graph that is ordered by them.
class Trainings {
 public:
  /// Returns the reports of `seeds` trainings with successive seeds. Throws as runtime::train().
  const std::vector<runtime::TrainReport>& of(const graph::Graph& graph, const plan::Job& job,
                                              const plan::Plan& plan, int seeds,
                                              const base::Progress& progress, const std::atomic<bool>* stop);

 private:
  PartedStores stores_;
  std::map<std::string, std::vector<runtime::TrainReport>> done_;
};

}  // namespace gnomon::reproduce
