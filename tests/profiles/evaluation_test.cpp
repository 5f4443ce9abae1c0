#include "profiles/measure/evaluation.h"

#include <gtest/gtest.h>

#include "graph/generate/generate.h"
#include "nn/inference.h"
#include "tests/fixtures/graphs.h"
#include "tests/profiles/tiny_job.h"

namespace gnomon::profiles {
namespace {

TEST(MeasureEvaluation, TakesTimeAndMemory) {
  const auto graph = graph::generate_in_memory(test::tiny_partition());
  const auto evaluation = measure_evaluation(graph, tiny_job(50), {}, {.time_limit_s = 100});
  ASSERT_TRUE(evaluation.has_value());
  ASSERT_TRUE(evaluation->time_s.has_value());
  EXPECT_GT(*evaluation->time_s, 0);
  const nn::Model model(tiny_job(50), graph.features.columns, graph.num_classes);
  EXPECT_EQ(evaluation->host_bytes,
            static_cast<double>(nn::inference_bytes(graph, model, {.vertices = graph.valid})));
}

TEST(MeasureEvaluation, LeavesOutATimeThatItDoesNotKnow) {
  const auto graph = graph::generate_in_memory(test::tiny_partition());
  const auto evaluation = measure_evaluation(graph, tiny_job(50), {}, {.time_limit_s = 0});
  ASSERT_TRUE(evaluation.has_value());
  EXPECT_FALSE(evaluation->time_s.has_value());
  EXPECT_GT(evaluation->host_bytes, 0);
}

TEST(MeasureEvaluation, NeedsValidationVertices) {
  auto graph = graph::generate_in_memory(test::tiny_partition());
  graph.valid = {};
  EXPECT_FALSE(measure_evaluation(graph, tiny_job(50), {}, {}).has_value());
}

}  // namespace
}  // namespace gnomon::profiles
