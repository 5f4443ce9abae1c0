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

/// The learners of several devices, one each, which always have the same weights: devices compute the
/// gradients of different mini-batches at once, and all weights make one step by their mean. The mean is
/// added up in the order of the devices, so D devices end with the bits of one device that averages D
/// mini-batches. On hardware each device would make the same step on its own: here the first learner makes
/// it, and alone has the optimiser's state, and the others copy its weights.
class Replicas {
 public:
  Replicas(const plan::Job& job, std::int64_t columns, std::int64_t classes, at::Device device, int devices);
  Replicas(const Replicas&) = delete;
  Replicas& operator=(const Replicas&) = delete;
  ~Replicas();

  int devices() const { return static_cast<int>(learners_.size()); }
  nn::Learner& first() { return *learners_.front(); }
  const nn::Learner& first() const { return *learners_.front(); }
  /// The bytes that each device keeps of its learner beside what its training steps allocate: the weights
  /// and, unless the first step of a single device is still to allocate it, the optimiser's state.
  std::int64_t kept_bytes(bool has_stepped) const;
  /// Gives all learners the weights and running statistics of the first.
  void spread();

  /// Computes a mini-batch's gradients. Calls for different devices may run at the same time.
  void backward(int device, const nn::TensorBatch& data, std::int64_t epoch, std::int64_t batch);
  /// Makes one step by the mean of the gradients since the last update, added up in the order of the devices
  /// from `first_device` on, those before it last. The running statistics are those of the first of them.
  /// Returns their mini-batches in that order. Precondition: at least one device has computed gradients.
  std::vector<TrainedBatch> update(std::int64_t epoch, int first_device = 0);

 private:
  std::vector<std::unique_ptr<nn::Learner>> learners_;
  std::vector<std::optional<TrainedBatch>> pending_;  ///< by device: gradients that are not yet applied
};

}  // namespace gnomon::runtime
