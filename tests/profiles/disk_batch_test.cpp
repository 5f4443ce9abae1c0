#include "profiles/measure/disk_batch.h"

#include <gtest/gtest.h>

#include "graph/store/store.h"
#include "tests/fixtures/graphs.h"
#include "tests/profiles/tiny_job.h"
#include "tests/runtime/disk/disk_directory.h"

namespace gnomon::profiles {
namespace {

std::shared_ptr<const runtime::PlacedGraph> placed(const graph::Graph& graph) {
  return std::make_shared<const runtime::PlacedGraph>(
      runtime::place(graph, kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0}));
}

const AccessOptions options{.time_limit_s = 1};

TEST(DiskBatch, OfStoresLooksUpWhatItReads) {
  const runtime::DiskDirectory directory;
  graph::write_store(test::planted_graph(3000, 16), directory / "store");
  const auto graph = graph::open_store(directory / "store");
  const auto times = measure_disk_batch(graph, placed(graph), tiny_job(200), options);
  ASSERT_TRUE(times.rows_s);
  ASSERT_TRUE(times.lists_s);
  EXPECT_GT(*times.lists_s, 0) << "edges are sorted by block";
  EXPECT_GE(*times.rows_s, 0);
  EXPECT_LT(*times.rows_s + *times.lists_s, 1);
  ASSERT_TRUE(times.choices_s);
  EXPECT_GT(*times.choices_s, 0);
  EXPECT_LT(*times.choices_s, 0.1);
  auto weighted = tiny_job(200);
  weighted.weighted = true;
  EXPECT_FALSE(measure_disk_batch(graph, placed(graph), weighted, options).rows_s);
}

TEST(DiskBatch, OfGraphsInMemoryIsNone) {
  const auto graph = test::planted_graph(3000, 16);
  EXPECT_FALSE(measure_disk_batch(graph, placed(graph), tiny_job(200), options).rows_s);
}

}  // namespace
}  // namespace gnomon::profiles
