#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nn/matmul_precision.h"
#include "nn/models.h"
#include "nn/tensor_batch.h"
#include "plan/job.h"

namespace torch::optim {
class Adam;
}
namespace torch::serialize {
class InputArchive;
class OutputArchive;
}  // namespace torch::serialize

namespace gnomon::nn {

/// What one update saw.
struct StepResult {
  double loss_sum = 0;  ///< cross-entropy, summed over the seeds
  std::int64_t correct = 0;
  std::int64_t seeds = 0;
};

/// A model and its optimiser; while it lives products are of the job's precision. The weights after a
/// sequence of steps are a pure function of the job and the batches in their order: neither ATen's threads
/// nor its global generator enters. (And of the kind of device, which rounds its own way.)
class Learner {
 public:
  Learner(const plan::Job& job, std::int64_t columns, std::int64_t classes, at::Device device = at::kCPU);
  ~Learner();

  /// Forward, cross-entropy (mean over the seeds), backward, one step of Adam, on a mini-batch on the
  /// learner's device. ATen's threads are the caller's. On a GPU all goes on its current stream, and the host
  /// waits once, for the result.
  StepResult step(const TensorBatch& data, std::int64_t epoch, std::int64_t batch);

  const Model& model() const { return model_; }
  /// Weights and the optimiser's state, the same whatever the device. load throws c10::Error for an archive
  /// that does not fit.
  void save(torch::serialize::OutputArchive& archive) const;
  void load(torch::serialize::InputArchive& archive);

 private:
  plan::Job job_;
  MatmulPrecisionOf precision_;
  Model model_;
  std::unique_ptr<torch::optim::Adam> optimiser_;
};

/// A hash of the bytes of all tensors, 16 hexadecimal digits.
std::string hash_of(const std::vector<at::Tensor>& tensors);

}  // namespace gnomon::nn
