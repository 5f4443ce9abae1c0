#pragma once

#include <cstdint>

#include "nn/learner.h"
#include "runtime/stages.h"
#include "runtime/training/history.h"

namespace gnomon::runtime {

/// The graph and job that the stages use: converted for plans that reuse the embeddings of all vertices,
/// otherwise unchanged.
graph::Graph graph_of_stages(const graph::Graph& graph, const plan::Plan& plan);
plan::Job job_of_stages(const plan::Job& job, const plan::Plan& plan);

/// Trains the mini-batch that `stages` are training, on their first device. Embeddings are pulled here, after
/// the push of the previous mini-batch, however far ahead the batch was prepared, so that the result does not
/// depend on timing. `batch` is its index in `epoch`.
nn::StepResult step(nn::Learner& learner, const nn::TensorBatch& data, History& history, const Stages& stages,
                    std::int64_t epoch, std::int64_t batch);

/// step() of a plan that reuses the embeddings of halos: for each hidden layer, pulls the embeddings of the
/// mini-batch's halo and pushes those that it computes.
nn::StepResult step_with_halo(nn::Learner& learner, const nn::TensorBatch& data, History& history,
                              const Stages& stages, std::int64_t epoch, std::int64_t batch);

}  // namespace gnomon::runtime
