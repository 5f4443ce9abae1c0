#pragma once

#include <cstdint>
#include <string>

#include "graph/graph.h"
#include "kernels/block.h"
#include "plan/job.h"
#include "plan/plan.h"

namespace gnomon::runtime {

/// Bytes of the host's memory that training takes, before caches take the rest.
struct HostNeeds {
  std::int64_t process = 0;   ///< the process as it is: program, libraries, structure of the graph, weights
  std::int64_t batches = 0;   ///< in workers' hands, in buffers and in training
  std::int64_t samplers = 0;  ///< what samplers keep from mini-batch to mini-batch
  std::int64_t readers = 0;   ///< buffers of reads in flight
  std::int64_t training = 0;  ///< activations of a training step or, if larger, evaluation
  std::int64_t model = 0;     ///< gradients and the optimiser's moments
  std::int64_t macro_batches = 0;  ///< those that are not loaded yet but will be in memory beside others

  std::int64_t total() const {
    return process + batches + samplers + readers + training + model + macro_batches;
  }
};

/// What mini-batches that were sampled to learn their sizes take, at most.
struct BatchNeeds {
  std::int64_t slot = 0;      ///< with its features
  std::int64_t sampler = 0;   ///< of one worker
  std::int64_t training = 0;  ///< training_bytes()
};

/// About the bytes of tensors that a training step makes: the features in fp32 if they are stored in fp16,
/// and of each layer what it aggregates, its output, its activation and their gradient.
std::int64_t training_bytes(const plan::Job& job, const kernels::MiniBatch& batch,
                            const graph::Features& features);

/// The process's memory without the pages of the graph's files, which the system can drop.
std::int64_t process_bytes(const graph::Graph& graph);

/// Slots and samplers of the plan, with a quarter to spare as mini-batches differ; `batches` is the number of
/// mini-batches of an epoch, and `weights` are the bytes of the model's weights.
HostNeeds needs_of(const plan::Plan& plan, const BatchNeeds& each, std::int64_t batches, std::int64_t weights,
                   std::int64_t process);

/// Throws base::InputError, which gives the parts, if the needs exceed `allowed`, the host memory to stay in;
/// 0: what is available.
void check_room(const plan::Plan& plan, const HostNeeds& needs, std::int64_t allowed);

/// Bytes that the plan's caches may take. Throws what check_room() throws.
std::int64_t cache_room(const plan::Plan& plan, const HostNeeds& needs, std::int64_t allowed);

}  // namespace gnomon::runtime
