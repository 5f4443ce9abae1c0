#include "tuner/run/profile_checks.h"

#include <string>

#include "base/error.h"
#include "base/usable.h"

namespace gnomon::tuner {

void check_profile_of(const profiles::Profile& profile, const graph::Graph& graph, const plan::Job& job) {
  const auto& workload = profile.workload;
  if (workload.vertices != graph.num_vertices() || workload.edges != graph.num_edges()) {
    throw base::InputError("profile: workload.vertices",
                           std::to_string(workload.vertices) + " vertices and " +
                               std::to_string(workload.edges) + " edges are not those of graph \"" +
                               graph.name + "\"; profile this graph, or let autotune measure it");
  }
  auto measured = base::write_value(workload.job);
  auto asked = base::write_value(job);
  for (const char* field : {"model", "fanouts", "weighted", "batch_size", "hidden", "heads", "norm", "skip",
                            "matmul_precision"}) {
    if (measured[field] != asked[field]) {
      throw base::InputError(std::string("profile: workload.job.") + field,
                             measured[field].dump() + " is not the training's " + asked[field].dump());
    }
  }
}

void check_cores_of(const profiles::Profile& profile) {
  if (profile.machine.cpu.cores > base::usable_cores()) {
    throw base::InputError("profile: machine.cpu.cores", std::to_string(profile.machine.cpu.cores) +
                                                             " are more than this machine's " +
                                                             std::to_string(base::usable_cores()));
  }
}

}  // namespace gnomon::tuner
