#pragma once

#include <ATen/Context.h>

#include "plan/job.h"

namespace gnomon::nn {

/// Guard that sets LibTorch's global precision of fp32 matrix products to a job's. The destructor restores
/// the previous one. Precondition: guards whose lifetimes overlap have the same precision.
class MatmulPrecisionGuard {
 public:
  explicit MatmulPrecisionGuard(const plan::Job& job);
  ~MatmulPrecisionGuard();
  MatmulPrecisionGuard(const MatmulPrecisionGuard&) = delete;
  MatmulPrecisionGuard& operator=(const MatmulPrecisionGuard&) = delete;

 private:
  at::Float32MatmulPrecision previous_;
};

}  // namespace gnomon::nn
