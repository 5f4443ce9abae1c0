#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/device/cross_entropy-inl.h"
#include "tests/kernels/host_executor.h"
#include "tests/random_seed.h"

namespace gnomon::kernels {
namespace {

TEST(DeviceCrossEntropy, CountsTheLargestLogitsAsASortOfEachRow) {
  const test::RandomSeed seed(7);
  std::mt19937_64 random(seed);
  constexpr std::int64_t seeds = 6000;
  constexpr std::int64_t classes = 19;
  std::vector<float> logits(seeds * classes);
  for (auto& logit : logits) {
    logit = static_cast<float>(random() % 5);  // with ties
  }
  logits[3 * classes + 2] = logits[3 * classes + 4] = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::int64_t> labels(seeds);
  std::int64_t expected = 0;
  for (std::int64_t i = 0; i < seeds; ++i) {
    labels[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(random() % 3);
    if (i == 3) {
      labels[3] = 2;  // the first NaN
      ++expected;
      continue;
    }
    const auto row = logits.begin() + i * classes;
    expected += std::max_element(row, row + classes) - row == labels[static_cast<std::size_t>(i)] ? 1 : 0;
  }
  std::vector<float> gradient(logits.size());
  std::vector<double> losses(seeds, 0);
  std::int64_t correct = 100;
  HostExecutor executor(3);
  for (int step = 1; step <= 2; ++step) {
    device::cross_entropy(executor, device::StepOutputs{logits.data(), labels.data(), seeds, classes},
                          gradient.data(), device::MetricSums{losses.data(), &correct});
    EXPECT_EQ(correct, 100 + step * expected);
  }
  EXPECT_TRUE(std::isnan(losses[3]) && std::isnan(gradient[3 * classes]));
}

/// By the definition, in double precision.
TEST(DeviceCrossEntropy, LossAndGradientAreThoseOfTheSoftmax) {
  const test::RandomSeed seed(8);
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, 20);  // where exp without the maximum overflows
  for (const std::int64_t classes : {1, 2, 7, 8, 9, 47, 172}) {
    constexpr std::int64_t seeds = 50;
    std::vector<float> logits(static_cast<std::size_t>(seeds * classes)), gradient(logits.size());
    std::generate(logits.begin(), logits.end(), [&] { return normal(random); });
    std::vector<std::int64_t> labels(seeds);
    std::vector<double> losses(seeds + 3, 1);
    std::int64_t correct = 0;
    std::generate(labels.begin(), labels.end(),
                  [&] { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(classes)); });
    HostExecutor executor(2);
    device::cross_entropy(executor, device::StepOutputs{logits.data(), labels.data(), seeds, classes},
                          gradient.data(), device::MetricSums{losses.data(), &correct});
    for (std::int64_t i = 0; i < seeds; ++i) {
      const float* row = logits.data() + i * classes;
      const double largest = *std::max_element(row, row + classes);
      double sum = 0;
      for (std::int64_t c = 0; c < classes; ++c) {
        sum += std::exp(row[c] - largest);
      }
      const auto label = labels[static_cast<std::size_t>(i)];
      const double loss = std::log(sum) - (row[label] - largest);
      EXPECT_NEAR(losses[static_cast<std::size_t>(i)], 1 + loss, 1e-4 * (1 + loss)) << classes << " classes";
      for (std::int64_t c = 0; c < classes; ++c) {
        const double expected = (std::exp(row[c] - largest) / sum - (c == label ? 1 : 0)) / seeds;
        EXPECT_NEAR(gradient[static_cast<std::size_t>(i * classes + c)], expected, 1e-7);
      }
    }
    EXPECT_EQ(losses.back(), 1);  // no seed's
  }
}

/// Of a padded mini-batch: what is beyond the seeds has no gradient and does not count.
TEST(DeviceCrossEntropy, LeavesPaddingOut) {
  const test::RandomSeed seed(9);
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, 3);
  constexpr std::int64_t rows = 70;
  constexpr std::int64_t classes = 11;
  std::vector<float> logits(rows * classes);
  std::generate(logits.begin(), logits.end(), [&] { return normal(random); });
  std::vector<std::int64_t> labels(rows);
  std::generate(labels.begin(), labels.end(), [&] { return static_cast<std::int64_t>(random() % classes); });
  for (const std::int64_t seeds : {0, 1, 33, 70}) {
    std::vector<float> expected(logits.size(), 0), found(logits.size(), 7);
    std::vector<double> expected_losses(rows, 0), losses(rows, 0);
    std::int64_t expected_correct = 0, correct = 0;
    HostExecutor executor(2);
    device::cross_entropy(executor, device::StepOutputs{logits.data(), labels.data(), seeds, classes},
                          expected.data(), device::MetricSums{expected_losses.data(), &expected_correct});
    const device::StepState state{{}, seeds, {losses.data(), &correct}, 0, 0};
    device::cross_entropy(executor, device::StepOutputs{logits.data(), labels.data(), rows, classes},
                          found.data(), &state);
    EXPECT_EQ(found, expected);
    EXPECT_EQ(losses, expected_losses);
    EXPECT_EQ(correct, expected_correct);
  }
}

}  // namespace
}  // namespace gnomon::kernels
