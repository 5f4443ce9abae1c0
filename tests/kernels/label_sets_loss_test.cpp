#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/device/cross_entropy-inl.h"
#include "tests/kernels/host_executor.h"
#include "tests/random_seed.h"

namespace gnomon::kernels {
namespace {

/// A step's outputs, and what they are compared with.
struct LabelledStep {
  std::vector<float> logits;
  std::vector<std::int64_t> labels;
  std::vector<std::uint8_t> sets;
  std::int64_t classes = 0;

  LabelledStep(std::int64_t seeds, std::int64_t num_sets, std::int64_t num_classes, std::mt19937_64& random)
      : logits(static_cast<std::size_t>(seeds * num_classes)),
        labels(static_cast<std::size_t>(seeds)),
        sets(static_cast<std::size_t>(num_sets * num_classes)),
        classes(num_classes) {
    std::normal_distribution<float> normal(0, 20);  // where exp() overflows
    std::generate(logits.begin(), logits.end(), [&] { return normal(random); });
    std::generate(labels.begin(), labels.end(),
                  [&] { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(num_sets)); });
    std::generate(sets.begin(), sets.end(), [&] { return static_cast<std::uint8_t>(random() % 2); });
  }
  device::StepOutputs outputs(std::int64_t seeds) const {
    return {logits.data(), labels.data(), seeds, classes, sets.data()};
  }
};

/// By the definition, in double precision.
TEST(DeviceLabelSetsLoss, LossAndGradientAreThoseOfTheSigmoids) {
  const test::RandomSeed seed(10);
  std::mt19937_64 random(seed);
  for (const std::int64_t classes : {1, 2, 7, 8, 9, 112}) {
    constexpr std::int64_t seeds = 50;
    LabelledStep step(seeds, 6, classes, random);
    for (std::int64_t c = 0; c < classes; ++c) {  // the first seed is right
      step.logits[static_cast<std::size_t>(c)] =
          step.sets[static_cast<std::size_t>(step.labels[0] * classes + c)] != 0 ? 3.0F : -3.0F;
    }
    std::vector<float> gradient(step.logits.size());
    std::vector<double> losses(seeds + 3, 1);
    std::int64_t correct = 10;
    HostExecutor executor(2);
    device::cross_entropy(executor, step.outputs(seeds), gradient.data(),
                          device::MetricSums{losses.data(), &correct});
    std::int64_t expected_correct = 10;
    for (std::int64_t i = 0; i < seeds; ++i) {
      double loss = 0;
      bool is_correct = true;
      for (std::int64_t c = 0; c < classes; ++c) {
        const auto at = static_cast<std::size_t>(i * classes + c);
        const double logit = step.logits[at];
        const double target =
            step.sets[static_cast<std::size_t>(step.labels[static_cast<std::size_t>(i)] * classes + c)];
        const double sign = target != 0 ? -1 : 1;
        loss += std::max(sign * logit, 0.0) + std::log1p(std::exp(-std::fabs(logit)));
        is_correct = is_correct && (logit > 0) == (target != 0);
        const double expected = (1 / (1 + std::exp(-logit)) - target) / static_cast<double>(seeds * classes);
        EXPECT_NEAR(gradient[at], expected, 1e-7) << classes << " classes";
      }
      loss /= static_cast<double>(classes);
      EXPECT_NEAR(losses[static_cast<std::size_t>(i)], 1 + loss, 1e-5 * (1 + loss)) << classes << " classes";
      expected_correct += is_correct ? 1 : 0;
    }
    EXPECT_EQ(correct, expected_correct);
    EXPECT_GT(correct, 10);
    EXPECT_EQ(losses.back(), 1);  // no seed's
  }
}

/// Of a padded mini-batch: what is beyond the seeds has no gradient and does not count. Its labels may be
/// anything.
TEST(DeviceLabelSetsLoss, LeavesPaddingOut) {
  const test::RandomSeed seed(11);
  std::mt19937_64 random(seed);
  constexpr std::int64_t rows = 70;
  for (const std::int64_t seeds : {0, 1, 33, 70}) {
    LabelledStep step(rows, 5, 11, random);
    std::vector<float> expected(step.logits.size(), 0), found(step.logits.size(), 7);
    std::vector<double> expected_losses(rows, 0), losses(rows, 0);
    std::int64_t expected_correct = 0, correct = 0;
    HostExecutor executor(2);
    device::cross_entropy(executor, step.outputs(seeds), expected.data(),
                          device::MetricSums{expected_losses.data(), &expected_correct});
    std::fill(step.labels.begin() + seeds, step.labels.end(), std::int64_t{1} << 40);
    const device::StepState state{{}, seeds, {losses.data(), &correct}, 0, 0};
    device::cross_entropy(executor, step.outputs(rows), found.data(), &state);
    EXPECT_EQ(found, expected);
    EXPECT_EQ(losses, expected_losses);
    EXPECT_EQ(correct, expected_correct);
  }
}

}  // namespace
}  // namespace gnomon::kernels
