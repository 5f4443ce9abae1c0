#pragma once

#include <string>

#include "graph/graph.h"
#include "plan/job.h"

namespace gnomon::apps {

/// The graph store DATA, ready to train the job on: everything in it was checked (graph::validate), and its
/// features lie in memory where there is room (kernels/cpu/features.h). A file is an InputError that says how
/// to import it, a store without what the job needs too.
graph::Graph open_training_data(const std::string& data, const plan::Job& job);

}  // namespace gnomon::apps
