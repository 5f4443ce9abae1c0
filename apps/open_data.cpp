#include "apps/open_data.h"

#include <filesystem>

#include "base/error.h"
#include "runtime/placement.h"

namespace gnomon::apps {

graph::Graph open_training_data(const std::string& data, const plan::Job& job) {
  if (!std::filesystem::exists(data)) {
    throw base::InputError(data, "does not exist; name a graph store, as gnomon import makes it");
  }
  if (!std::filesystem::is_directory(data)) {
    throw base::InputError(data, "is a file, not a graph store; make one with: gnomon import FORMAT " + data +
                                     " STORE (gnomon import --help lists the formats), or run: gnomon demo " +
                                     data);
  }
  auto graph = graph::open_store(data);
  runtime::draws_of(graph, job);
  graph::validate(graph, true);
  return graph;
}

}  // namespace gnomon::apps
