#include "schedule/timeline.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/document.h"
#include "schedule/run_epoch.h"
#include "tests/fixtures/temporary_directory.h"
#include "tests/virtual_machine.h"

namespace gnomon::schedule {
namespace {

plan::Plan two_worker_pipeline() {
  plan::Plan plan;
  plan.schedule = plan::Schedule::pipelined;
  plan.workers = 2;
  return plan;
}

test::VirtualMachine unit_machine() {
  return {2, [](Stage, std::int64_t) { return 1.0; }};
}

TEST(Timeline, MeanTimesAreOverTheSpansOfEachStage) {
  const auto times =
      mean_times({{Stage::train, 0, 0, 1, 3}, {Stage::train, 1, 0, 4, 8}, {Stage::transfer, 1, 0, 2, 3}});
  EXPECT_DOUBLE_EQ(times[static_cast<std::size_t>(Stage::train)], 3);
  EXPECT_DOUBLE_EQ(times[static_cast<std::size_t>(Stage::transfer)], 1);
  EXPECT_DOUBLE_EQ(times[static_cast<std::size_t>(Stage::cpu_batch)], 0);
}

TEST(Timeline, StagesAreCountedByName) {
  const auto document = stages_document(
      {{Stage::train, 0, 0, 1, 3}, {Stage::train, 1, 0, 4, 8}, {Stage::transfer, 1, 0, 2, 3}});
  EXPECT_EQ(document, (base::Json{{"transfer", {{"count", 1}, {"mean_s", 1.0}}},
                                  {"train", {{"count", 2}, {"mean_s", 3.0}}}}));
}

TEST(TracedMachine, RecordsEveryStageAndChangesNothing) {
  auto plain = unit_machine();
  const auto expected = run_epoch(two_worker_pipeline(), 5, plain);
  auto machine = unit_machine();
  TracedMachine traced(machine);
  const auto log = run_epoch(two_worker_pipeline(), 5, traced);
  EXPECT_EQ(log.trained, expected.trained);
  EXPECT_EQ(log.seconds(), expected.seconds());
  const auto timeline = traced.timeline();
  ASSERT_EQ(timeline.size(), 15U);
  EXPECT_EQ(timeline.size(), machine.spans().size());
  for (std::size_t i = 0; i < timeline.size(); ++i) {
    EXPECT_EQ(timeline[i].stage, machine.spans()[i].stage);
    EXPECT_EQ(timeline[i].end_s, machine.spans()[i].end_s);
  }
}

TEST(Timeline, UtilisationIsBusyTimeOverCapacity) {
  const std::vector<StageSpan> spans = {
      {Stage::cpu_batch, 0, 0, 0, 2}, {Stage::cpu_batch, 1, 1, 1, 4}, {Stage::train, 0, 0, 2, 3}};
  EXPECT_DOUBLE_EQ(utilisation(spans, {Stage::cpu_batch}, 0, 4, 2), 5.0 / 8);
  EXPECT_DOUBLE_EQ(utilisation(spans, {Stage::train, Stage::device_batch}, 0, 4, 1), 1.0 / 4);
  EXPECT_DOUBLE_EQ(utilisation(spans, {Stage::cpu_batch}, 2, 4, 2), 2.0 / 4);
  EXPECT_DOUBLE_EQ(utilisation(spans, {Stage::transfer}, 0, 4, 1), 0);
}

TEST(Trace, IsAChromeTraceWithOneProcessPerTimeline) {
  const test::TemporaryDirectory directory;
  const auto path = directory / "trace.json";
  write_trace(path, {{"predicted", {{Stage::train, 7, 0, 0.5, 0.75}}},
                     {"measured", {{Stage::cpu_batch, 7, 1, 0, 0.25}}}});
  const auto trace = base::parse_json(base::read_file(path), path.string());
  std::vector<std::string> processes;
  int spans = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event["name"] == "process_name") {
      processes.push_back(event["args"]["name"]);
    }
    if (event["ph"] == "X") {
      ++spans;
      const bool is_train = event["cat"] == "train";
      EXPECT_EQ(event["pid"], is_train ? 0 : 1);
      EXPECT_DOUBLE_EQ(event["ts"], is_train ? 5e5 : 0);
      EXPECT_DOUBLE_EQ(event["dur"], 2.5e5);
      EXPECT_EQ(event["tid"], is_train ? 0 : 3);
    }
  }
  EXPECT_EQ(processes, (std::vector<std::string>{"predicted", "measured"}));
  EXPECT_EQ(spans, 2);
}

}  // namespace
}  // namespace gnomon::schedule
