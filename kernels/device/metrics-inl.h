#pragma once

#include "kernels/device/metrics.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {
namespace passes {

/// One index per seed; the first also adds the loss.
template <class Atomics>
struct AddMetrics {
  StepOutputs outputs;
  MetricSums* sums;

  constexpr void operator()(std::int64_t seed) const {
    if (largest(outputs.logits + seed * outputs.classes) == outputs.labels[seed]) {
      Atomics::add(&sums->correct, std::int64_t{1});
    }
    if (seed == 0) {
      sums->loss += static_cast<double>(*outputs.mean_loss) * static_cast<double>(outputs.seeds);
    }
  }

 private:
  constexpr std::int64_t largest(const float* row) const {
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < outputs.classes && row[best] == row[best]; ++i) {  // no number is above NaN
      if (row[i] > row[best] || row[i] != row[i]) {
        best = i;
      }
    }
    return best;
  }
};

}  // namespace passes

template <class Executor>
void add_metrics(Executor& executor, const StepOutputs& outputs, MetricSums* sums) {
  executor.for_each(outputs.seeds, passes::AddMetrics<typename Executor::Atomics>{outputs, sums});
}

}  // namespace gnomon::kernels::device
