#pragma once

#include <cstdint>
#include <string>

#include "graph/graph.h"
#include "kernels/block.h"
#include "plan/job.h"
#include "plan/plan.h"

namespace gnomon::runtime {

/// Host memory that training needs, apart from caches.
struct HostNeeds {
  std::int64_t process = 0;        ///< the process: program, libraries, structure of the graph, weights
  std::int64_t batches = 0;        ///< in preparation, in buffers and in training
  std::int64_t samplers = 0;       ///< memory of samplers between mini-batches
  std::int64_t readers = 0;        ///< buffers of reads in flight
  std::int64_t training = 0;       ///< activations of a training step or, if larger, evaluation
  std::int64_t model = 0;          ///< gradients and the optimiser's moments
  std::int64_t macro_batches = 0;  ///< those that are not loaded yet but will be in memory beside others

  std::int64_t total() const {
    return process + batches + samplers + readers + training + model + macro_batches;
  }
};

/// The maximum memory needs over mini-batches sampled to determine their sizes.
struct BatchNeeds {
  std::int64_t slot = 0;      ///< with its features
  std::int64_t sampler = 0;   ///< of one worker
  std::int64_t training = 0;  ///< training_bytes()
};

/// Estimates the bytes of tensors in a training step: the features in fp32 if they are stored in fp16, and
/// for each layer the aggregate, the output, the activation and their gradients.
std::int64_t training_bytes(const plan::Job& job, const kernels::MiniBatch& batch,
                            const graph::Features& features);

/// The process's memory without the pages of the graph's files, which the system can evict.
std::int64_t process_bytes(const graph::Graph& graph);

/// The needs of the plan's slots and samplers, with a margin of 25 % as mini-batches vary; `batches` is the
/// number of mini-batches in an epoch, and `weights` the bytes of the model's weights.
HostNeeds needs_of(const plan::Plan& plan, const BatchNeeds& each, std::int64_t batches, std::int64_t weights,
                   std::int64_t process);

/// Throws base::InputError, which gives the parts, if the needs exceed `allowed`, the host memory to stay in;
/// 0: what is available.
void check_room(const plan::Plan& plan, const HostNeeds& needs, std::int64_t allowed);

/// Bytes that the plan's caches may take. Throws what check_room() throws.
std::int64_t cache_room(const plan::Plan& plan, const HostNeeds& needs, std::int64_t allowed);

}  // namespace gnomon::runtime
