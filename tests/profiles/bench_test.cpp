#include "profiles/measure/bench.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "graph/generate/generate.h"
#include "tests/profiles/tiny_job.h"

namespace gnomon::profiles {
namespace {

using schedule::Stage;

const runtime::DeviceOptions emulated{.kind = plan::DeviceKind::emulated,
                                      .max_bytes = std::int64_t{64} << 20,
                                      .link = {.bandwidth_bytes_per_s = 1e10}};

std::map<Stage, int> counts_of(const std::vector<schedule::StageSpan>& spans) {
  std::map<Stage, int> counts;
  for (const auto& span : spans) {
    ++counts[span.stage];
  }
  return counts;
}

TEST(Pipelined, RunsEachStageOfTheRouteForEachMiniBatch) {
  const auto graph = graph::generate_in_memory(
      graph::PlantedPartition{.vertices = 600, .classes = 4, .feature_columns = 8, .seed = 1});
  Bench bench(graph, tiny_job(20), 3, emulated);
  std::vector<std::int64_t> order(10);
  std::iota(order.begin(), order.end(), 0);
  using Counts = std::map<Stage, int>;
  EXPECT_EQ(counts_of(bench.pipelined({plan::Route::cpu, 2, 0}, 0, order)),
            (Counts{{Stage::cpu_batch, 10}, {Stage::transfer, 10}, {Stage::train, 10}}));
  EXPECT_EQ(counts_of(bench.pipelined({plan::Route::device, 1, 0.5}, 1, order)),
            (Counts{{Stage::device_batch, 10}, {Stage::train, 10}}));
  bench.begin(2, order);
  EXPECT_EQ(counts_of(bench.in_turn({Stage::cpu_batch, Stage::transfer, Stage::train}, 0, 4)),
            (Counts{{Stage::cpu_batch, 4}, {Stage::transfer, 4}, {Stage::train, 4}}))
      << "single stages run afterwards as before";
}

}  // namespace
}  // namespace gnomon::profiles
