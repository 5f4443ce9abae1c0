#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "graph/graph.h"
#include "runtime/training/stretch.h"
#include "runtime/training/trainer.h"

/// The checks of train()'s arguments. They throw base::InputError for what a user may have passed, and
/// std::invalid_argument for what only a caller can have got wrong.
namespace gnomon::runtime {

/// The graph can be trained on, job and plan are complete, and the device executes the plan.
void check_options(const graph::Graph& graph, const TrainOptions& options);

/// The checkpoint that these options resume from, if there is one, is of the same job and graph. A biased
/// graph, which train() makes from the plan, is not compared.
void check_resumed(const graph::Graph& graph, const TrainOptions& options);

/// The plan can follow a recorded order: steps of several devices depend on which mini-batches were together.
void check_replayed(const TrainOptions& options);

/// Each epoch of a replay has a number of hot vertices for each super-batch of `batches` mini-batches.
void check_hot_counts(const TrainOptions& options, std::int64_t batches);

/// Every epoch has each of its batches once, and none twice: those from 0 to batches_of(epoch) - 1 and, with
/// macro-batches, any of further passes.
void check_replay(const std::vector<std::vector<std::int64_t>>& replay, const plan::Plan& plan,
                  const std::function<std::int64_t(std::int64_t epoch)>& batches_of);

/// The plan is exact, trains in the order of the indices, and has 1 to `left` batches. The device executes
/// it.
void check_stretch(const Stretch& stretch, std::int64_t left, const DeviceOptions& device);

}  // namespace gnomon::runtime
