#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "runtime/training/stretch.h"
#include "runtime/training/trainer.h"

/// The checks of train()'s arguments. They throw base::InputError for what a user may have passed, and
/// std::invalid_argument for what only a caller can have got wrong.
namespace gnomon::runtime {

/// The graph can be trained on, job and plan are complete, and the device executes the plan.
void check_options(const graph::Graph& graph, const TrainOptions& options);

/// The job goes with a plan that records training steps: padding changes nothing but rounding.
void check_graphs(const plan::Plan& plan, const plan::Job& job);

/// The checkpoint that these options resume from, if there is one, is of the same job and graph. A biased
/// graph, which train() makes from the plan, is not compared.
void check_resumed(const graph::Graph& graph, const TrainOptions& options);

/// The plan can follow a recorded order: steps of several devices depend on which mini-batches were together.
void check_replayed(const TrainOptions& options);

/// Each epoch of a replay has a number of hot vertices for each super-batch of `batches` mini-batches.
void check_hot_counts(const TrainOptions& options, std::int64_t batches);

/// Every epoch has each of the batches 0 to `batches` - 1 once.
void check_replay(const std::vector<std::vector<std::int64_t>>& replay, std::int64_t batches);

/// The plan is exact, trains in the order of the indices, and has 1 to `left` batches. The device executes
/// it.
void check_stretch(const Stretch& stretch, std::int64_t left, const DeviceOptions& device);

}  // namespace gnomon::runtime
