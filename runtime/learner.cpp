#include "runtime/learner.h"

#include <torch/torch.h>

#include <array>
#include <cstdio>

#include "runtime/pieces.h"

namespace gnomon::runtime {

Learner::Learner(const plan::Job& job, std::int64_t columns, std::int64_t classes)
    : job_(job), model_(job, columns, classes) {
  optimiser_ = std::make_unique<torch::optim::Adam>(
      model_.parameters(), torch::optim::AdamOptions(job.learning_rate).weight_decay(job.weight_decay));
}

Learner::~Learner() = default;

StepResult Learner::step(const TensorBatch& data, std::int64_t epoch, std::int64_t batch) {
  const Dropping dropping{job_.dropout,
                          {job_.seed, base::Purpose::dropout, static_cast<std::uint64_t>(epoch),
                           static_cast<std::uint64_t>(batch)}};
  const auto logits = model_.forward(data, dropping);
  const auto loss = at::cross_entropy_loss(logits, data.labels);
  optimiser_->zero_grad();
  loss.backward();
  {
    const AtenThreads one_thread(
        1);  // Adam's sums of products round differently at the ends of a thread's part
    optimiser_->step();
  }
  const std::int64_t seeds = data.labels.size(0);
  return {loss.item<double>() * static_cast<double>(seeds),
          logits.detach().argmax(1).eq(data.labels).sum().item<std::int64_t>(), seeds};
}

void Learner::save(torch::serialize::OutputArchive& archive) const {
  const auto weights = model_.parameters();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    archive.write("weight" + std::to_string(i), weights[i].detach());
  }
  torch::serialize::OutputArchive optimiser;
  optimiser_->save(optimiser);
  archive.write("adam", optimiser);
}

void Learner::load(torch::serialize::InputArchive& archive) {
  const auto weights = model_.parameters();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    at::Tensor values;
    archive.read("weight" + std::to_string(i), values);
    TORCH_CHECK(values.sizes() == weights[i].sizes(), "weight ", i, " has another shape");
    copy_values({values}, {weights[i]});
  }
  torch::serialize::InputArchive optimiser;
  archive.read("adam", optimiser);
  optimiser_->load(optimiser);
}

std::string hash_of(const std::vector<at::Tensor>& tensors) {
  // FNV-1a, 64 bits (Fowler, Noll and Vo).
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const auto& tensor : tensors) {
    const auto values = tensor.detach().contiguous();
    const auto* bytes = static_cast<const unsigned char*>(values.const_data_ptr());
    for (std::size_t i = 0; i < values.nbytes(); ++i) {
      hash = (hash ^ bytes[i]) * 0x100000001B3U;
    }
  }
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

}  // namespace gnomon::runtime
