#pragma once

#include <string>

#include "graph/graph.h"
#include "plan/job.h"
#include "plan/plan.h"

namespace gnomon::apps {

/// The graph store DATA, checked (graph::validate) and ready for training; its features are in memory if
/// there is room (kernels/cpu/features.h), also for what the plan, if there is one, keeps beside them, and
/// the plan does not leave them on the disk. Throws InputError if DATA is a file, with how to import it, or
/// if the store lacks what the job needs.
graph::Graph open_training_data(const std::string& data, const plan::Job& job,
                                const plan::Plan* plan = nullptr);

}  // namespace gnomon::apps
