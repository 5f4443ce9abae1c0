#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/store/builder.h"
#include "runtime/training/trainer.h"
#include "tests/runtime/test_runs.h"

namespace gnomon::runtime {
namespace {

using plan::Route;
using plan::Schedule;

/// The edges of the planted graph between vertices of one class have weight 1 to 3, the others `other`.
graph::GraphParts planted_parts(float other) {
  const auto planted = test::planted_graph(1500, 32);
  graph::GraphParts parts;
  parts.num_vertices = planted.num_vertices();
  parts.weighted = true;
  for (graph::VertexId v = 0; v < planted.num_vertices(); ++v) {
    for (const auto u : planted.neighbours(v)) {
      const bool alike =
          planted.labels[static_cast<std::size_t>(u)] == planted.labels[static_cast<std::size_t>(v)];
      parts.edges.push_back({u, v, alike ? static_cast<float>(1 + (u + v) % 3) : other});
    }
  }
  const auto* values = reinterpret_cast<const float*>(planted.features.data);
  parts.features.assign(values, values + planted.features.rows * planted.features.columns);
  parts.feature_columns = planted.features.columns;
  parts.labels.assign(planted.labels.begin(), planted.labels.end());
  parts.train.assign(planted.train.begin(), planted.train.end());
  parts.valid.assign(planted.valid.begin(), planted.valid.end());
  parts.test.assign(planted.test.begin(), planted.test.end());
  return parts;
}

plan::Job weighted_job() {
  auto job = small_job(plan::ModelKind::sage);
  job.weighted = true;
  return job;
}

TEST(WeightedTraining, ExactPlansEndWithTheSameBits) {
  const auto graph = graph::make_graph(planted_parts(0.25F));
  const auto job = weighted_job();
  const auto expected = train(graph, {.job = job, .plan = sequential_plan()});
  std::uint64_t delay_seed = 900;
  for (const auto& plan : {plan_of(Schedule::sequential, Route::device, 0),
                           plan_of(Schedule::pipelined, Route::cpu, 3), claim_ahead_plan(3, 2)}) {
    TrainOptions options{.job = job, .plan = plan};
    options.before_stage = random_delays(delay_seed++);
    EXPECT_EQ(train(graph, options).weights_hash, expected.weights_hash) << plan.name;
  }
  auto uniform = job;
  uniform.weighted = false;
  EXPECT_NE(train(graph, {.job = uniform, .plan = sequential_plan()}).weights_hash, expected.weights_hash);
}

TEST(WeightedTraining, AnEdgeOfWeightZeroIsNoEdge) {
  auto job = weighted_job();
  job.fanouts = {-1, -1};
  auto parts = planted_parts(0);
  const auto with_zeros = train(graph::make_graph(parts), {.job = job, .plan = sequential_plan()});
  std::erase_if(parts.edges, [](const graph::Edge& edge) { return edge.weight == 0; });
  job.weighted = false;
  EXPECT_EQ(train(graph::make_graph(parts), {.job = job, .plan = sequential_plan()}).weights_hash,
            with_zeros.weights_hash);
}

TEST(WeightedTraining, NeedsWeights) {
  try {
    train(test::planted_graph(200, 8), {.job = weighted_job(), .plan = sequential_plan()});
    FAIL() << "no error";
  } catch (const base::InputError& error) {
    EXPECT_NE(std::string(error.what()).find("has no edge weights; import it with --edge-weights"),
              std::string::npos);
  }
}

TEST(WeightedTraining, ACheckpointOfOtherWeightsIsRefused) {
  const test::TemporaryDirectory directory;
  TrainOptions options{.job = weighted_job(), .plan = sequential_plan()};
  options.run_directory = directory.path();
  options.resume = true;
  options.job.epochs = 1;
  train(graph::make_graph(planted_parts(0.25F)), options);
  EXPECT_THROW(train(graph::make_graph(planted_parts(0.5F)), options), base::InputError);
}

}  // namespace
}  // namespace gnomon::runtime
