#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "graph/graph.h"
#include "runtime/training/stretch.h"
#include "runtime/training/trainer.h"

/// Argument checks of train(). They throw base::InputError for user errors and std::invalid_argument for
/// programming errors.
namespace gnomon::runtime {

struct RunState;

/// Checks that the graph can be trained on, job and plan are complete, and the device executes the plan.
void check_options(const graph::Graph& graph, const TrainOptions& options);

/// The job goes with a plan that records training steps: padding changes nothing but rounding.
void check_graphs(const plan::Plan& plan, const plan::Job& job);

/// Checks that the checkpoint to resume from, if any, belongs to the same job and graph. Biased graphs, which
/// train() derives from the plan, are not compared.
void check_resumed(const graph::Graph& graph, const TrainOptions& options);

/// Checks that the plan can replay a recorded order: steps of several devices depend on which mini-batches
/// were averaged together.
void check_replayed(const TrainOptions& options);

/// Checks that each epoch of a replay has a number of hot vertices for each super-batch of `batches`
/// mini-batches.
void check_hot_counts(const TrainOptions& options, std::int64_t batches);

/// Every epoch has each of its batches once, and none twice: those from 0 to batches_of(epoch) - 1 and, with
/// macro-batches, any of further passes.
void check_replay(const std::vector<std::vector<std::int64_t>>& replay, const plan::Plan& plan,
                  const std::function<std::int64_t(std::int64_t epoch)>& batches_of);

/// Checks that a checkpoint holds historical embeddings if, and only if, the plan keeps them, unless the run
/// begins anew.
void check_carried_history(const RunState& state, const plan::Plan& plan,
                           const std::filesystem::path& checkpoint);

/// Checks that the plan is exact and trains in index order, the device executes it, and the stretch has 1 to
/// `left` batches.
void check_stretch(const Stretch& stretch, std::int64_t left, const DeviceOptions& device);

}  // namespace gnomon::runtime
