#include "nn/learner.h"

#include <torch/serialize/input-archive.h>
#include <torch/serialize/output-archive.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <utility>

#include "nn/adam.h"
#include "nn/cuda/kernels.h"
#include "nn/dense/chunks.h"
#include "nn/direct_pass.h"
#include "nn/gradients.h"
#include "nn/label_sets.h"

namespace gnomon::nn {
namespace {

using torch::optim::Adam;
using torch::optim::AdamParamState;

void move(AdamParamState* state, at::Device device) {
  if (state != nullptr) {
    state->exp_avg(state->exp_avg().to(device));
    state->exp_avg_sq(state->exp_avg_sq().to(device));
  }
}

/// Returns a copy of the optimiser with its tensors on the CPU, which may share memory with the original's.
std::unique_ptr<Adam> on_cpu(Adam& optimiser) {
  const auto& group = optimiser.param_groups().front();
  std::vector<at::Tensor> weights;
  for (const auto& weight : group.params()) {
    weights.push_back(weight.detach().cpu().requires_grad_());
  }
  auto copy = std::make_unique<Adam>(weights, static_cast<const torch::optim::AdamOptions&>(group.options()));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (const auto* state = state_of(optimiser, group.params()[i])) {
      auto copied = static_cast<const torch::optim::OptimizerParamState&>(*state)
                        .clone();  // the derived one is private
      move(static_cast<AdamParamState*>(copied.get()), at::kCPU);
      copy->state()[weights[i].unsafeGetTensorImpl()] = std::move(copied);
    }
  }
  return copy;
}

void set_learning_rate(Adam& optimiser, double rate) {
  optimiser.param_groups().front().options().set_lr(rate);
}

void write(torch::serialize::OutputArchive& archive, const char* name,
           const std::vector<at::Tensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    archive.write(name + std::to_string(i), tensors[i].detach().cpu());
  }
}

void read(torch::serialize::InputArchive& archive, const char* name, const std::vector<at::Tensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    at::Tensor values;
    archive.read(name + std::to_string(i), values);
    TORCH_CHECK(values.sizes() == tensors[i].sizes(), name, i, " has another shape");
    copy_values({values}, {tensors[i]});
  }
}

void read_room(const at::Tensor& numbers, LearnedRoom& room) {
  const auto* first = numbers.const_data_ptr<std::int64_t>();
  try {
    room.restore({first, first + numbers.numel()});
  } catch (const std::invalid_argument& error) {
    TORCH_CHECK(false, "graphs: ", error.what());
  }
}

/// Sets the first tensor to the mean of all, by chunks if they are on the CPU.
void average(std::span<const at::Tensor> tensors) {
  const auto& mean = tensors.front();
  const bool is_cut =
      mean.is_cpu() && std::all_of(tensors.begin(), tensors.end(),
                                   [](const at::Tensor& tensor) { return tensor.is_contiguous(); });
  const auto whole = mean.numel();
  for_each_chunk(whole, is_cut ? elements_per_chunk : whole, [&](std::int64_t begin, std::int64_t length) {
    const auto part = [&](const at::Tensor& tensor) {
      return is_cut ? tensor.view(-1).narrow(0, begin, length) : tensor;
    };
    auto sum = part(mean);
    for (const auto& other : tensors.subspan(1)) {
      sum.add_(part(other));
    }
    sum.div_(static_cast<double>(tensors.size()));
  });
}

}  // namespace

Learner::Learner(const plan::Job& job, std::int64_t columns, std::int64_t classes, at::Device device,
                 at::Tensor label_sets)
    : job_(job), precision_(job), label_sets_(std::move(label_sets)), model_(job, columns, classes, device) {
  optimiser_ = std::make_unique<torch::optim::Adam>(
      model_.parameters(), torch::optim::AdamOptions(job.learning_rate).weight_decay(job.weight_decay));
}

Learner::~Learner() = default;

StepResult Learner::step(const TensorBatch& data, std::int64_t epoch, std::int64_t batch) {
  const auto result = backward(data, epoch, batch);
  update(epoch);
  return result;
}

void Learner::step(const TensorBatch& data, std::int64_t epoch, std::int64_t batch, StepSums& sums) {
  if (model_.device().is_cpu()) {
    sums.add(step(data, epoch, batch));
    return;
  }
  if (uses_graphs_ && step_by_graph(data, epoch, batch, sums)) {
    return;
  }
  both_passes(data, dropout_of(epoch, batch), [&](const at::Tensor& logits) {
    return sums.add_cross_entropy(logits, targets_of(data.labels));
  });
  update(epoch);
  sums.end_step();
}

/// Computes the gradients of the weights; `loss_gradient` returns that of the logits.
template <class LossGradient>
void Learner::both_passes(const TensorBatch& data, const DropoutSpec& dropout,
                          const LossGradient& loss_gradient) {
  if (DirectPass::can_run(model_, data)) {
    const DirectPass pass(model_, data, dropout);
    pass.compute_gradients(loss_gradient(pass.logits()));
    return;
  }
  const auto logits = model_.forward(data, dropout);
  const auto gradient = loss_gradient(logits.detach());
  optimiser_->zero_grad();
  compute_gradients(logits, gradient);
}

void Learner::use_graphs(bool uses) {
  TORCH_CHECK(!uses || job_.norm != plan::Norm::batch, "batch normalisation would see padding");
  uses_graphs_ = uses;
}

/// Returns whether the mini-batch was trained.
bool Learner::step_by_graph(const TensorBatch& data, std::int64_t epoch, std::int64_t batch, StepSums& sums) {
  if (!graphs_.take(data, epoch) || !steps_together(*optimiser_)) {
    return false;
  }
  auto dropout = dropout_of(epoch, batch);
  const kernels::device::StepState state{{dropout.key.epoch, dropout.key.batch},
                                         data.labels.size(0),
                                         sums.add_seeds(data.labels.size(0), data.labels.options()),
                                         static_cast<float>(plan::learning_rate(job_, epoch)),
                                         static_cast<float>(count_step(*optimiser_))};
  const auto backward = [&](const PaddedBatch& padded) {
    dropout.number = &padded.state()->number;
    const auto tensors = padded.tensors();
    both_passes(tensors, dropout, [&](const at::Tensor& logits) {
      return cuda_cross_entropy(logits.contiguous(), targets_of(tensors.labels), padded.state());
    });
  };
  graphs_.run(data, state, backward, [&](const PaddedBatch& padded) {
    const AtenThreadsGuard one_thread(1);
    launch_step(*optimiser_, padded.adam_step(), padded.learning_rate());
  });
  return true;
}

StepResult Learner::backward(const TensorBatch& data, std::int64_t epoch, std::int64_t batch) {
  return read(backward_from(model_.forward(data, dropout_of(epoch, batch)), data.labels));
}

DropoutSpec Learner::dropout_of(std::int64_t epoch, std::int64_t batch) const {
  return {job_.dropout,
          {job_.seed, base::Purpose::dropout, static_cast<std::uint64_t>(epoch),
           static_cast<std::uint64_t>(batch)}};
}

StepResult Learner::step(const TensorBatch& data, HistoricalRows& rows, std::int64_t epoch,
                         std::int64_t batch) {
  const auto logits = model_.forward(data, rows, dropout_of(epoch, batch));
  const auto labelled = data.labels.ge(0).nonzero().squeeze(1);
  if (labelled.numel() == 0) {
    return {};
  }
  const auto metrics = backward_from(logits.index_select(0, labelled), data.labels.index_select(0, labelled));
  update(epoch);
  return read(metrics);
}

StepResult Learner::step(const TensorBatch& data, HaloRows& rows, std::int64_t epoch, std::int64_t batch) {
  const auto metrics = backward_from(model_.forward(data, rows, dropout_of(epoch, batch)), data.labels);
  update(epoch);
  return read(metrics);
}

StepMetrics Learner::backward_from(const at::Tensor& logits, const at::Tensor& labels) {
  if (label_sets_.defined()) {
    const auto loss = label_sets_loss(logits.detach(), targets_of(labels));
    optimiser_->zero_grad();
    compute_gradients(logits, loss.gradient);
    return loss.metrics;
  }
  const auto loss = at::cross_entropy_loss(logits, labels);
  optimiser_->zero_grad();
  compute_gradients(loss);
  return metrics_of(loss.detach(), logits.detach(), labels);
}

void Learner::update(std::int64_t epoch) {
  set_learning_rate(*optimiser_, plan::learning_rate(job_, epoch));
  if (model_.device().is_cpu()) {
    chunked_step(*optimiser_);
  } else {
    fused_step(*optimiser_, adam_step_);
  }
}

std::int64_t Learner::label_set_bytes() const {
  return label_sets_.defined() ? static_cast<std::int64_t>(label_sets_.nbytes()) : 0;
}

std::int64_t Learner::weight_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& weight : model_.parameters()) {
    bytes += static_cast<std::int64_t>(weight.nbytes());
  }
  return bytes;
}

void Learner::save(torch::serialize::OutputArchive& archive) const {
  write(archive, "weight", model_.parameters());
  write(archive, "buffer", model_.buffers());
  if (uses_graphs_) {
    archive.write("graphs", at::tensor(graphs_.room().numbers(), at::kLong));
  }
  torch::serialize::OutputArchive optimiser;
  on_cpu(*optimiser_)->save(optimiser);
  archive.write("adam", optimiser);
}

void Learner::load(torch::serialize::InputArchive& archive) {
  const auto weights = model_.parameters();
  read(archive, "weight", weights);
  read(archive, "buffer", model_.buffers());
  if (at::Tensor numbers; archive.try_read("graphs", numbers)) {
    read_room(numbers, graphs_.room());
  }
  graphs_.forget();
  torch::serialize::InputArchive optimiser;
  archive.read("adam", optimiser);
  optimiser_->load(optimiser);
  for (const auto& weight : weights) {
    move(state_of(*optimiser_, weight), model_.device());
  }
}

void average_gradients(std::span<Learner* const> learners) {
  const auto weights = learners.front()->model().parameters();
  std::vector<std::vector<at::Tensor>> others;
  for (const auto* learner : learners.subspan(1)) {
    others.push_back(learner->model().parameters());
  }
  for (std::size_t i = 0; i < weights.size() && !others.empty(); ++i) {
    std::vector<at::Tensor> gradients{weights[i].grad()};
    if (!gradients.front().defined()) {
      continue;  // a weight that the model does not use
    }
    for (const auto& other : others) {
      gradients.push_back(other[i].grad().to(gradients.front().device()));
    }
    average(gradients);
  }
}

void copy_gradients(const Learner& from, Learner& to) {
  const auto weights = to.model().parameters();
  const auto others = from.model().parameters();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i].mutable_grad() = others[i].grad();
  }
  copy_values(from.model().buffers(), to.model().buffers());
}

void copy_model(const Learner& from, Learner& to) {
  const AtenThreadsGuard one_thread(1);
  copy_values(from.model().parameters(), to.model().parameters());
  copy_values(from.model().buffers(), to.model().buffers());
}

std::string hash_of(const std::vector<at::Tensor>& tensors) {
  // FNV-1a, 64 bits (Fowler, Noll and Vo).
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const auto& tensor : tensors) {
    const auto values = tensor.detach().cpu().contiguous();
    const auto* bytes = static_cast<const unsigned char*>(values.const_data_ptr());
    for (std::size_t i = 0; i < values.nbytes(); ++i) {
      hash = (hash ^ bytes[i]) * 0x100000001B3U;
    }
  }
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

}  // namespace gnomon::nn
