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
/// gradients of different mini-batches at once, and all learners make one step by their mean. The mean is
/// added up in the order of the devices, so D devices end with the bits of one device that averages D
/// mini-batches.
class Replicas {
 public:
  Replicas(const plan::Job& job, std::int64_t columns, std::int64_t classes, at::Device device, int devices);
  Replicas(const Replicas&) = delete;
  Replicas& operator=(const Replicas&) = delete;
  ~Replicas();

  int devices() const { return static_cast<int>(learners_.size()); }
  nn::Learner& learner(int device) { return *learners_[static_cast<std::size_t>(device)]; }
  const nn::Learner& first() const { return *learners_.front(); }
  /// Bytes of one learner's gradients.
  std::int64_t gradient_bytes() const;

  /// Computes a mini-batch's gradients. Calls for different devices may run at the same time.
  void backward(int device, const nn::TensorBatch& data, std::int64_t epoch, std::int64_t batch);
  /// Makes one step by the mean of the gradients since the last update. Returns their mini-batches, by
  /// device. Precondition: devices 0 … n-1 have computed gradients, for some n of at least 1.
  std::vector<TrainedBatch> update(std::int64_t epoch);

 private:
  std::vector<std::unique_ptr<nn::Learner>> learners_;
  std::vector<std::optional<TrainedBatch>> pending_;  ///< by device: gradients that are not yet applied
};

}  // namespace gnomon::runtime
