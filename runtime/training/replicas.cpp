#include "runtime/training/replicas.h"

#include <stdexcept>

namespace gnomon::runtime {

Replicas::Replicas(const plan::Job& job, const graph::Graph& graph, at::Device device, int devices)
    : pending_(static_cast<std::size_t>(devices)) {
  for (int i = 0; i < devices; ++i) {
    learners_.push_back(std::make_unique<nn::Learner>(job, graph.features.columns, graph.num_classes, device,
                                                      nn::label_sets_of(graph, device)));
  }
}

/// In reverse order: learners hold guards of the matmul precision, which nest.
Replicas::~Replicas() {
  while (!learners_.empty()) {
    learners_.pop_back();
  }
}

std::int64_t Replicas::kept_bytes(bool has_stepped) const {
  constexpr std::int64_t with_moments = 3;  // Adam's two, of each weight
  return (devices() > 1 || has_stepped ? with_moments : 1) * first().weight_bytes() +
         first().label_set_bytes();
}

void Replicas::spread() {
  for (std::size_t other = 1; other < learners_.size(); ++other) {
    nn::copy_model(first(), *learners_[other]);
  }
}

void Replicas::backward(int device, const nn::TensorBatch& data, std::int64_t epoch, std::int64_t batch) {
  const auto at = static_cast<std::size_t>(device);
  if (pending_[at]) {
    throw std::logic_error("a device has two mini-batches in one step");
  }
  pending_[at] = {batch, learners_[at]->backward(data, epoch, batch)};
}

std::vector<TrainedBatch> Replicas::update(std::int64_t epoch, int first_device) {
  std::vector<TrainedBatch> trained;
  std::vector<nn::Learner*> learners;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    const std::size_t device = (i + static_cast<std::size_t>(first_device)) % pending_.size();
    if (pending_[device]) {
      trained.push_back(*pending_[device]);
      learners.push_back(learners_[device].get());
      pending_[device].reset();
    }
  }
  if (trained.empty()) {
    throw std::logic_error("an update without gradients");
  }
  nn::average_gradients(learners);
  if (learners.front() != &first()) {
    nn::copy_gradients(*learners.front(), first());
  }
  first().update(epoch);
  spread();
  return trained;
}

}  // namespace gnomon::runtime
