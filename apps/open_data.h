#pragma once

#include <string>

#include "graph/graph.h"

namespace gnomon::apps {

/// The graph store DATA, ready to train on: everything in it was checked (graph::validate). A file is an
/// InputError that says how to import it.
graph::Graph open_training_data(const std::string& data);

}  // namespace gnomon::apps
