#pragma once

#include <ATen/core/Tensor.h>

/// Normalisation of rows, differentiable and with bits that do not depend on the number of threads
/// (dense.h). All tensors are fp32 on one device; x is (n, columns), gain and bias are (columns).
namespace gnomon::nn::dense {

/// Added to variances, PyTorch's default.
inline constexpr double norm_epsilon = 1e-5;
/// The share of a mini-batch in the running statistics, PyTorch's default.
inline constexpr double norm_momentum = 0.1;

/// Normalises each row by its mean and variance, as torch.nn.LayerNorm.
at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& gain, const at::Tensor& bias);

/// The running mean and the running unbiased variance of each column.
struct RunningStatistics {
  at::Tensor mean;
  at::Tensor variance;
};

/// Normalises each column by its mean and variance over the rows, as torch.nn.BatchNorm1d in training, and
/// moves `running` towards them. A single row has no unbiased variance, so it moves the running mean only.
at::Tensor batch_norm(const at::Tensor& x, const at::Tensor& gain, const at::Tensor& bias,
                      const RunningStatistics& running);

/// Normalises each column by the running statistics, as torch.nn.BatchNorm1d in evaluation.
at::Tensor batch_norm_by_running(const at::Tensor& x, const at::Tensor& gain, const at::Tensor& bias,
                                 const RunningStatistics& running);

}  // namespace gnomon::nn::dense
