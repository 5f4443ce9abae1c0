#include "nn/step_sums.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace gnomon::nn {
namespace {

TEST(StepSums, AddsLossesBySeedsAndCountsTheLargestLogits) {
  StepSums sums({1.5, 2, 10});
  const auto logits = at::tensor({0.F, 2.F, 1.F, 3.F, 0.F, 0.F, 5.F, 5.F, 1.F}).view({3, 3});
  const auto labels = at::tensor({std::int64_t{1}, std::int64_t{2}, std::int64_t{0}});
  sums.add(read(metrics_of(at::scalar_tensor(0.25, at::kFloat), logits, labels)));
  sums.add(StepResult{4, 1, 2});
  const auto read = sums.read();
  EXPECT_EQ(read.loss_sum, 1.5 + 0.25 * 3 + 4);
  EXPECT_EQ(read.correct, 2 + 2 + 1);
  EXPECT_EQ(read.seeds, 10 + 3 + 2);
  EXPECT_EQ(sums.read().correct, read.correct);  // reading changes nothing
}

}  // namespace
}  // namespace gnomon::nn
