#include "apps/open_data.h"

#include <filesystem>

#include "base/error.h"
#include "base/interleave.h"
#include "graph/store/checked_store.h"
#include "kernels/cpu/features.h"
#include "runtime/placement.h"

namespace gnomon::apps {

graph::Graph open_training_data(const std::string& data, const plan::Job& job, plan::Home features) {
  if (!std::filesystem::exists(data)) {
    throw base::InputError(data, "does not exist; name a graph store, as made by gnomon import");
  }
  if (!std::filesystem::is_directory(data)) {
    throw base::InputError(data, "is a file, not a graph store; make one with: gnomon import FORMAT " + data +
                                     " STORE (gnomon import --help lists the formats), or run: gnomon demo " +
                                     data);
  }
  auto graph = graph::open_store(data);
  runtime::draws_of(graph, job);
  graph::validate_once(graph, true);
  // With several NUMA nodes, the plan determines the placement of features.
  const bool copies = features != plan::Home::disk && base::memory_nodes().size() < 2;
  return copies && kernels::cpu::can_copy_features(graph) ? kernels::cpu::with_copied_features(graph) : graph;
}

}  // namespace gnomon::apps
