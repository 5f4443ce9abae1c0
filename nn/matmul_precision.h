#pragma once

#include <ATen/Context.h>

#include "plan/job.h"

namespace gnomon::nn {

/// Lets all of LibTorch's products of fp32 matrices be of a job's precision, as long as it lives. Those that
/// overlap must be of one job.
class MatmulPrecisionOf {
 public:
  explicit MatmulPrecisionOf(const plan::Job& job);
  ~MatmulPrecisionOf();
  MatmulPrecisionOf(const MatmulPrecisionOf&) = delete;
  MatmulPrecisionOf& operator=(const MatmulPrecisionOf&) = delete;

 private:
  at::Float32MatmulPrecision before_;
};

}  // namespace gnomon::nn
