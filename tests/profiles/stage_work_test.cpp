#include "profiles/stage_work.h"

#include <gtest/gtest.h>

#include <map>

namespace gnomon::profiles {
namespace {

/// Two layers: 10 seeds draw 30 edges to 25 vertices, which draw 50 to 60.
WorkloadProfile small_workload() {
  WorkloadProfile workload;
  workload.vertices = 1000;
  workload.edges = 5000;
  workload.feature_columns = 100;
  workload.feature_row_bytes = 400;
  workload.job.fanouts = {3, 2};
  workload.job.hidden = 32;
  workload.batch_vertices = 60;
  workload.batch_edges = 80;
  workload.hops = {{10, 30}, {25, 50}};
  return workload;
}

double total(const std::vector<Amount>& work, Work kind) {
  double sum = 0;
  for (const auto& amount : work) {
    sum += amount.work == kind ? amount.count : 0;
  }
  return sum;
}

TEST(StageWork, SamplingCountsListsAndEdges) {
  const auto work = sampling_work(small_workload());
  EXPECT_EQ(total(work, Work::random_lines), 10 + 25 + 30 + 50);
  EXPECT_EQ(total(work, Work::inserts), 80);
  EXPECT_EQ(total(work, Work::branches), 80);
  EXPECT_EQ(work.front().size, 5000 * 4 + 1000 * 8);
}

TEST(StageWork, GatheringCountsBytes) {
  const auto work = gathering_work(small_workload());
  ASSERT_EQ(work.size(), 1U);
  EXPECT_EQ(work.front().count, 60 * 400);
  EXPECT_EQ(work.front().size, 1000 * 400);
  auto narrow = small_workload();
  narrow.feature_row_bytes = 8;
  EXPECT_EQ(gathering_work(narrow).front().count, 60 * 64) << "a line is read for each row";
}

// The first layer maps 100 columns to 32 for 25 vertices, with products for outputs and the weights'
// gradient, the second 32 to 16 classes for 10, also with the inputs' gradient; each vertex twice, for itself
// and its neighbours.
TEST(StageWork, TrainingCountsProductsAndAggregation) {
  const auto work = training_work(small_workload());
  EXPECT_EQ(total(work, Work::dense_fp32), 2 * 2 * 25 * 100 * 32 * 2 + 2 * 2 * 10 * 32 * 16 * 3);
  EXPECT_EQ(total(work, Work::sparse), 50 * 100 * 4 + 30 * 16 * 4 * 2);
  EXPECT_EQ(total(work, Work::dense_bf16), 0);
  auto rounded = small_workload();
  rounded.job.matmul_precision = plan::MatmulPrecision::medium;
  EXPECT_EQ(total(training_work(rounded), Work::dense_bf16), total(work, Work::dense_fp32));
}

TEST(StageWork, GrowsWithTheMiniBatch) {
  auto large = small_workload();
  large.batch_vertices *= 2;
  for (auto& hop : large.hops) {
    hop = {2 * hop.destinations, 2 * hop.edges};
  }
  const auto few = training_work(small_workload());
  const auto many = training_work(large);
  for (const Work kind : {Work::dense_fp32, Work::sparse, Work::copies}) {
    EXPECT_DOUBLE_EQ(total(many, kind), 2 * total(few, kind));
  }
  EXPECT_EQ(total(many, Work::operations), total(few, Work::operations));
}

TEST(StageWork, DoesWithoutHops) {
  auto unknown = small_workload();
  unknown.hops.clear();
  EXPECT_EQ(total(sampling_work(unknown), Work::inserts), 80);
  EXPECT_GT(total(training_work(unknown), Work::dense_fp32), 0);
}

}  // namespace
}  // namespace gnomon::profiles
