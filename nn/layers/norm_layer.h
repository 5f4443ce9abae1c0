#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "nn/dense/norms.h"
#include "nn/layers/initialiser.h"
#include "plan/job.h"

namespace gnomon::nn {

/// Normalisation of a hidden layer's outputs.
struct NormLayer {
  plan::Norm kind = plan::Norm::none;
  at::Tensor gain, bias;             ///< undefined for none
  dense::RunningStatistics running;  ///< of batch normalisation

  /// Batch normalisation uses the mini-batch's statistics in training, and moves the running ones; it uses
  /// the running ones otherwise.
  at::Tensor forward(const at::Tensor& x, bool training) const;
};

/// A layer's initial norm: gain 1, bias 0, running mean 0 and variance 1.
NormLayer make_norm(plan::Norm kind, Initialiser& initialise, std::int64_t columns);

}  // namespace gnomon::nn
