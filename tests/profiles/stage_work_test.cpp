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
  EXPECT_EQ(total(work, Work::random_lines), 30 + 50);
  EXPECT_EQ(total(work, Work::dense_fp32), 400 * (30 + 50));
  EXPECT_EQ(work.front().size, 5000 * 4 + 1000 * 8);
}

TEST(StageWork, GatheringCountsBytes) {
  auto workload = small_workload();
  workload.batch_bytes = 30000;
  const auto work = gathering_work(workload);
  EXPECT_EQ(total(work, Work::huge_page_rows), 60 * 400);
  EXPECT_EQ(work.front().size, 1000 * 400);
  EXPECT_EQ(total(work, Work::copies), 30000);
  auto narrow = small_workload();
  narrow.feature_columns = 2;
  narrow.feature_row_bytes = 8;
  EXPECT_EQ(gathering_work(narrow).front().count, 60 * 64) << "a line is read for each row";
}

TEST(StageWork, SparseRowsAreReadLineByLine) {
  auto sparse = small_workload();
  sparse.feature_row_bytes = 128;
  EXPECT_TRUE(has_sparse_rows(sparse));
  EXPECT_EQ(total(gathering_work(sparse), Work::random_lines), 60 * 2);
  EXPECT_EQ(total(gathering_work(sparse), Work::huge_page_rows), 0);
  for (const std::int64_t row_bytes : {200, 400}) {  // dense, of fp16 and of fp32
    sparse.feature_row_bytes = row_bytes;
    EXPECT_FALSE(has_sparse_rows(sparse));
  }
}

// Both layers aggregate before the product, which is less work. The first maps 100 columns to 32 for 25
// vertices, with products for outputs and the weights' gradient, the second 32 to 16 classes for 10, also
// with the inputs' gradient; each vertex twice, for itself and its neighbours. Dropout draws for the 60
// vertices' features and for the 25 hidden rows.
TEST(StageWork, TrainingCountsProductsAndAggregation) {
  auto workload = small_workload();
  const auto work = training_work(workload);
  const double products = 2 * 2 * 25 * 100 * 32 * 2 + 2 * 2 * 10 * 32 * 16 * 3;
  EXPECT_EQ(total(work, Work::dense_fp32), products + 50 * (60 * 100 + 25 * 32));
  EXPECT_EQ(total(work, Work::sparse), 50 * 100 * 4 + 30 * 32 * 4 * 2);
  EXPECT_EQ(total(work, Work::copies),
            4 * (2 * 25 * 100 * 6 + 60 * 100 + 25 * 32 * 8 + 2 * 10 * 32 * 6 + 10 * 16 * 8));
  EXPECT_EQ(total(work, Work::dense_bf16), 0);
  workload.job.dropout = 0;
  EXPECT_EQ(total(training_work(workload), Work::dense_fp32), products);
  workload.job.matmul_precision = plan::MatmulPrecision::medium;
  EXPECT_EQ(total(training_work(workload), Work::dense_bf16), products);
}

// With so many edges it is less work to map the 60 sources from 100 columns to 2, and to aggregate these.
TEST(StageWork, LayersAggregateWhereItIsLessWork) {
  auto workload = small_workload();
  workload.job.dropout = 0;
  workload.job.hidden = 2;
  workload.hops[1].edges = 500;
  const auto work = training_work(workload);
  EXPECT_EQ(total(work, Work::sparse), 500 * 2 * 4 * 2 + 30 * 2 * 4 * 2);
  EXPECT_EQ(total(work, Work::dense_fp32), 2 * (60 + 25) * 100 * 2 * 2 + 2 * 2 * 10 * 2 * 16 * 3);
}

// A row of 32 weights for each entry of the 60 + 25 rows that are multiplied, half of them dropped.
TEST(StageWork, SparseRowsAreMultipliedByTheirEntries) {
  auto sparse = small_workload();
  sparse.feature_row_bytes = 60;
  const auto work = training_work(sparse);
  const double activations = 25 * 32 * 8 + 2 * 10 * 32 * 6 + 10 * 16 * 8;
  EXPECT_EQ(total(work, Work::copies), 4 * ((60 + 25) * 10 * 0.5 * 32 * 2 + activations));
  EXPECT_EQ(total(work, Work::dense_fp32), 2 * 2 * 10 * 32 * 16 * 3 + 50 * 25 * 32);
  EXPECT_EQ(total(work, Work::branches), 60 * 10) << "each entry is dropped or kept";
  sparse.job.dropout = 0;
  EXPECT_EQ(total(training_work(sparse), Work::branches), 0);
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
  EXPECT_EQ(total(sampling_work(unknown), Work::random_lines), 80);
  EXPECT_GT(total(training_work(unknown), Work::dense_fp32), 0);
}

TEST(StageWork, CountsOfAProfileAreTaken) {
  auto workload = small_workload();
  const auto estimated = batch_work(workload);
  workload.work = estimated;
  workload.work->sampling = {{Work::inserts, 1000, 7}};
  workload.batch_vertices *= 2;  // the estimate's input
  EXPECT_EQ(sampling_work(workload), workload.work->sampling);
  EXPECT_EQ(gathering_work(workload), estimated.gathering);
  EXPECT_EQ(training_work(workload), estimated.training);
  workload.work.reset();
  EXPECT_NE(gathering_work(workload), estimated.gathering);
}

}  // namespace
}  // namespace gnomon::profiles
