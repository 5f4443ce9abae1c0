#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "kernels/device/metrics-inl.h"
#include "tests/kernels/host_executor.h"
#include "tests/random_seed.h"

namespace gnomon::kernels {
namespace {

TEST(DeviceMetrics, AreThoseOfASortOfEachRow) {
  const test::RandomSeed seed(7);
  std::mt19937_64 random(seed);
  constexpr std::int64_t seeds = 6000;
  constexpr std::int64_t classes = 7;
  std::vector<float> logits(seeds * classes);
  for (auto& logit : logits) {
    logit = static_cast<float>(random() % 5);  // with ties
  }
  logits[3 * classes + 2] = logits[3 * classes + 4] = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::int64_t> labels(seeds);
  std::int64_t correct = 0;
  for (std::int64_t i = 0; i < seeds; ++i) {
    labels[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(random() % classes);
    if (i == 3) {
      labels[3] = 2;  // the first NaN
      ++correct;
      continue;
    }
    const auto row = logits.begin() + i * classes;
    correct += std::max_element(row, row + classes) - row == labels[static_cast<std::size_t>(i)] ? 1 : 0;
  }
  const float loss = 1.25F;
  device::MetricSums sums{0.5, 100};
  HostExecutor executor(3);
  for (int step = 1; step <= 2; ++step) {
    device::add_metrics(executor, device::StepOutputs{logits.data(), labels.data(), &loss, seeds, classes},
                        &sums);
    EXPECT_EQ(sums.correct, 100 + step * correct);
    EXPECT_EQ(sums.loss, 0.5 + step * 1.25 * seeds);
  }
}

}  // namespace
}  // namespace gnomon::kernels
