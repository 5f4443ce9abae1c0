#include "runtime/training/replicas.h"

#include <stdexcept>

namespace gnomon::runtime {

Replicas::Replicas(const plan::Job& job, std::int64_t columns, std::int64_t classes, at::Device device,
                   int devices)
    : pending_(static_cast<std::size_t>(devices)) {
  for (int i = 0; i < devices; ++i) {
    learners_.push_back(std::make_unique<nn::Learner>(job, columns, classes, device));
  }
}

/// The last one first: learners hold guards of the matmul precision, which nest.
Replicas::~Replicas() {
  while (!learners_.empty()) {
    learners_.pop_back();
  }
}

std::int64_t Replicas::gradient_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& weight : first().model().parameters()) {
    bytes += static_cast<std::int64_t>(weight.nbytes());
  }
  return bytes;
}

void Replicas::backward(int device, const nn::TensorBatch& data, std::int64_t epoch, std::int64_t batch) {
  pending_[static_cast<std::size_t>(device)] = {batch, learner(device).backward(data, epoch, batch)};
}

std::vector<TrainedBatch> Replicas::update(std::int64_t epoch) {
  std::vector<TrainedBatch> trained;
  for (auto& pending : pending_) {
    if (pending) {
      trained.push_back(*pending);
      pending.reset();
    }
  }
  if (trained.empty()) {
    throw std::logic_error("an update without gradients");
  }
  nn::average_gradients(learners_, trained.size());
  for (const auto& learner : learners_) {
    learner->update(epoch);
  }
  return trained;
}

}  // namespace gnomon::runtime
