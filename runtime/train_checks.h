#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "runtime/stretch.h"
#include "runtime/trainer.h"

/// What train() asks of its arguments. All throw base::InputError for what a user can have given, and
/// std::invalid_argument for what only a caller can have got wrong.
namespace gnomon::runtime {

/// A graph that can be trained on, a job and a plan that are whole and that the runtime executes.
void check_options(const graph::Graph& graph, const TrainOptions& options);

/// Each of the batches 0 to `batches` - 1 once in every epoch.
void check_replay(const std::vector<std::vector<std::int64_t>>& replay, std::int64_t batches);

/// An exact plan that trains in the order of the indices, for 1 to `left` batches.
void check_stretch(const Stretch& stretch, std::int64_t left, plan::DeviceKind device);

}  // namespace gnomon::runtime
