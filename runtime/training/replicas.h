#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "nn/learner.h"

namespace gnomon::runtime {

/// A mini-batch that has been trained.
struct TrainedBatch {
  std::int64_t batch = 0;  ///< of the epoch
  nn::StepResult result;
};

/// The learners of several devices, one per device, with identical weights: devices compute the gradients of
/// different mini-batches concurrently, and all weights take one step by the mean gradient. The mean is added
/// up in the order of the devices, so D devices end with the bits of one device that averages D mini-batches.
/// On separate hardware each device would compute the same step itself. Here only the first learner does,
/// which alone holds the optimiser's state, and the others copy its weights.
class Replicas {
 public:
  Replicas(const plan::Job& job, const graph::Graph& graph, at::Device device, int devices);
  Replicas(const Replicas&) = delete;
  Replicas& operator=(const Replicas&) = delete;
  ~Replicas();

  int devices() const { return static_cast<int>(learners_.size()); }
  nn::Learner& first() { return *learners_.front(); }
  const nn::Learner& first() const { return *learners_.front(); }
  /// The persistent bytes of a learner on each device, beyond the allocations of training steps: the weights,
  /// the label sets and, unless the first step of a single device has yet to allocate it, the optimiser's
  /// state.
  std::int64_t kept_bytes(bool has_stepped) const;
  /// Copies the weights and running statistics of the first learner to all others.
  void spread();

  /// Computes a mini-batch's gradients. Calls for different devices may run at the same time.
  void backward(int device, const nn::TensorBatch& data, std::int64_t epoch, std::int64_t batch);
  /// Takes one step by the mean of the gradients since the last update, summed in the order of the devices
  /// from `first_device` on, with the devices before it last. The running statistics are those of the first
  /// device in that order. Returns the mini-batches in that order. Precondition: at least one device has
  /// computed gradients.
  std::vector<TrainedBatch> update(std::int64_t epoch, int first_device = 0);

 private:
  std::vector<std::unique_ptr<nn::Learner>> learners_;
  std::vector<std::optional<TrainedBatch>> pending_;  ///< by device: gradients that are not yet applied
};

}  // namespace gnomon::runtime
