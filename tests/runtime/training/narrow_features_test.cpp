#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "graph/feature_bits.h"
#include "graph/store/store.h"
#include "runtime/device.h"
#include "runtime/training/trainer.h"
#include "tests/fixtures/sparse_features.h"
#include "tests/runtime/disk/disk_directory.h"
#include "tests/runtime/emulated/emulated_options.h"
#include "tests/runtime/test_runs.h"

// Features of 16 bits are widened without rounding wherever they are read, so that training on them has the
// bits of training on fp32 features of their values.

namespace gnomon::runtime {
namespace {

using plan::Route;
using plan::Schedule;

constexpr std::int64_t columns = 37;

/// The planted graph with its features in a type.
graph::Graph graph_in(graph::FeatureType type) {
  const auto planted = test::planted_graph(1500, columns);
  return test::with_features(planted, test::dense_values(planted.features), columns, type);
}

/// The same graph with the values of its features in fp32.
graph::Graph widened(const graph::Graph& graph) {
  return test::with_features(graph, test::dense_values(graph.features), columns, graph::FeatureType::fp32);
}

class NarrowFeatures : public testing::TestWithParam<graph::FeatureType> {
 protected:
  NarrowFeatures() : graph_(graph_in(GetParam())) {}

  TrainReport run(const graph::Graph& graph, const plan::Plan& plan, const DeviceOptions& device = {}) {
    auto job = small_job(plan::ModelKind::sage);
    job.dropout = 0.4;
    return train(graph, {.job = job, .plan = plan, .device = device});
  }
  void expect_same(const TrainReport& found, const TrainReport& expected) {
    EXPECT_EQ(found.weights_hash, expected.weights_hash);
    EXPECT_EQ(found.test_accuracy, expected.test_accuracy);
    EXPECT_EQ(found.epochs.back().valid_loss, expected.epochs.back().valid_loss);
  }

  graph::Graph graph_;
};

INSTANTIATE_TEST_SUITE_P(Types, NarrowFeatures,
                         testing::Values(graph::FeatureType::fp16, graph::FeatureType::bf16),
                         [](const auto& tested) { return std::string(base::name_of(tested.param)); });

TEST_P(NarrowFeatures, TrainWithTheBitsOfTheirValuesOnTheHost) {
  const auto wide = widened(graph_);
  ASSERT_NE(test::dense_values(wide.features),
            test::dense_values(graph_in(graph::FeatureType::fp32).features));
  const auto expected = run(wide, sequential_plan());
  for (const bool fused : {false, true}) {
    for (auto plan : {sequential_plan(), plan_of(Schedule::pipelined, Route::cpu, 2),
                      plan_of(Schedule::sequential, Route::device, 0)}) {
      SCOPED_TRACE(plan.name + (fused ? ", fused" : ""));
      plan.fused = fused;
      expect_same(run(graph_, plan), expected);
    }
  }
}

TEST_P(NarrowFeatures, TrainWithTheBitsOfTheirValuesOnAnEmulatedDevice) {
  const auto device = emulated_options(std::int64_t{1} << 30);
  auto plan = plan_of(Schedule::sequential, Route::device, 0);
  for (const bool fused : {false, true}) {
    plan.fused = fused;
    expect_same(run(graph_, plan, device), run(widened(graph_), plan, device));
  }
}

TEST_P(NarrowFeatures, TrainWithTheBitsOfTheirValuesFromTheDisk) {
  const DiskDirectory directory;
  graph::write_store(graph_, directory / "store");
  const auto stored = graph::open_store(directory / "store");
  ASSERT_EQ(stored.features.type, GetParam());
  auto plan = plan_of(Schedule::pipelined, Route::cpu, 2);
  plan.features = plan::Home::disk;
  plan.cache = {.policy = plan::CachePolicy::recent, .place = plan::Home::host};
  const auto report = run(stored, plan);
  EXPECT_GT(report.epochs.front().disk_reads.bytes, 0);
  expect_same(report, run(widened(graph_), sequential_plan()));
}

}  // namespace
}  // namespace gnomon::runtime
