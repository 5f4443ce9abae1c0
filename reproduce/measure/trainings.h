#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "base/progress.h"
#include "graph/graph.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "runtime/training/trainer.h"

namespace gnomon::reproduce {

/// Trainings of plans on this machine's cores, each done once.
class Trainings {
 public:
  /// The reports of `seeds` trainings, which differ in the job's seed. Throws what runtime::train() throws.
  const std::vector<runtime::TrainReport>& of(const graph::Graph& graph, const plan::Job& job,
                                              const plan::Plan& plan, int seeds,
                                              const base::Progress& progress, const std::atomic<bool>* stop);

 private:
  std::map<std::string, std::vector<runtime::TrainReport>> done_;
};

}  // namespace gnomon::reproduce
