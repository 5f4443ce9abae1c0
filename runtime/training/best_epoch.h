#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "nn/models.h"
#include "runtime/training/checkpoint.h"
#include "runtime/training/trainer.h"

namespace gnomon::runtime {

std::vector<at::Tensor> copies_of(const std::vector<at::Tensor>& tensors);

/// Makes the epoch in progress the run's best one, and copies the model's weights, if its evaluation is
/// better than the best so far, or if nothing can be compared. With few validation vertices accuracies are
/// often equal: then the loss decides.
void judge(const EpochReport& report, const nn::Model& model, RunState& state);

/// The best epoch and its validation metrics.
void report_best(const RunState& state, TrainReport& report);

}  // namespace gnomon::runtime
