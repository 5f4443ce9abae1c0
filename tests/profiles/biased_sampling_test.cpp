#include "profiles/measure/biased_sampling.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/error.h"
#include "graph/generate/generate.h"
#include "tests/fixtures/graphs.h"
#include "tests/profiles/tiny_job.h"

namespace gnomon::profiles {
namespace {

TEST(MeasureBiasedSampling, IsTheRatioOfTwoTimes) {
  const auto graph = graph::generate_in_memory(test::tiny_partition());
  const auto ratio = measure_biased_sampling(graph, tiny_job(16), {.time_limit_s = 100});
  ASSERT_TRUE(ratio.has_value());
  EXPECT_GT(*ratio, 0.1);
  EXPECT_LT(*ratio, 100);
}

TEST(MeasureBiasedSampling, IsNoneWhereAllSamplingIsByWeight) {
  auto job = tiny_job(16);
  job.weighted = true;
  const auto graph = graph::generate_in_memory(test::tiny_partition());
  EXPECT_FALSE(measure_biased_sampling(graph, job, {}).has_value());
}

TEST(MeasureBiasedSampling, IsStopped) {
  const std::atomic<bool> stop = true;
  const auto graph = graph::generate_in_memory(test::tiny_partition());
  EXPECT_THROW(measure_biased_sampling(graph, tiny_job(16), {.stop = &stop}), base::Interrupted);
}

}  // namespace
}  // namespace gnomon::profiles
