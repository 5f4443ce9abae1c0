#include "plan/plan.h"

#include <gtest/gtest.h>

#include <fstream>

#include "plan/job.h"

namespace gnomon::plan {
namespace {

template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "no error";
}

Plan parse(const std::string& fields) {
  const auto text = R"({"schema": "gnomon.plan/1", )" + fields + "}";
  auto plan = base::from_document<Plan>(base::parse_json(text, "p.json"), "p.json");
  check(plan, "p.json");
  return plan;
}

TEST(Presets, AreFoundByNameAndResolveOnEveryMachine) {
  const auto all = presets();
  std::vector<std::string> names;
  for (const auto& preset : all) {
    names.push_back(preset.name);
    EXPECT_FALSE(preset.source.empty()) << preset.name;
    EXPECT_EQ(find_plan(preset.name), preset);
    for (const int cores : {1, 2, 3, 64}) {
      for (const bool host_device : {true, false}) {
        const auto plan = resolve(preset, {cores, host_device}, "test");
        EXPECT_EQ(plan.workers > 0, plan.uses_cpu_route()) << preset.name;
        EXPECT_GE(plan.device_threads, 1);
        EXPECT_LE(plan.workers, cores);
        EXPECT_LE(plan.device_threads, cores);
        EXPECT_EQ(resolve(plan, {cores, host_device}, "again"), plan);
      }
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"device", "gnomon", "morphgl", "pyg", "salient"}));
}

TEST(Presets, FileNameIsPlanName) {
  for (const auto& preset : presets()) {
    EXPECT_EQ(read_plan(std::string(SOURCE_DIR) + "/plan/presets/" + preset.name + ".json"), preset);
  }
}

TEST(Plan, RoundTripKeepsEveryField) {
  Plan plan;
  plan.name = "all fields";
  plan.source = "test";
  plan.schedule = Schedule::claim_ahead;
  plan.route = Route::both;
  plan.exact = false;
  plan.workers = 3;
  plan.cpu_buffer = 5;
  plan.device_buffer = 6;
  plan.look_ahead = 7;
  plan.copy_during_device_batch = true;
  plan.handover_copies = 1;
  plan.device_threads = 2;
  EXPECT_EQ(base::from_document<Plan>(base::to_document(plan), "test"), plan);
}

TEST(Plan, ContradictionsNameTheField) {
  const auto error = [](const std::string& fields) { return error_of([&] { parse(fields); }); };
  EXPECT_EQ(error(R"("name": "x", "schedule": "pipelined", "route": "device")"),
            "p.json: route: \"device\" does not go with schedule \"pipelined\"; use \"cpu\"");
  EXPECT_EQ(error(R"("name": "x", "schedule": "sequential", "route": "both")"),
            "p.json: route: \"both\" does not go with schedule \"sequential\"; use \"cpu\" or \"device\"");
  EXPECT_EQ(error(R"("name": "x", "schedule": "dual_buffer", "route": "both")"),
            "p.json: order: \"index\" does not go with schedule \"dual_buffer\"; use \"as_ready\"");
  EXPECT_EQ(error(R"("name": "x", "schedule": "claim_ahead", "route": "both", "order": "as_ready")"),
            "p.json: order: \"as_ready\" does not go with schedule \"claim_ahead\"; use \"index\"");
  EXPECT_EQ(error(R"("name": "x", "schedule": "sequential", "route": "device", "workers": 1)"),
            "p.json: workers: must be 0 when the route is \"device\"");
  EXPECT_EQ(error(R"("name": "x", "schedule": "sequential", "route": "cpu", "workers": 2)"),
            "p.json: workers: must be 0 or 1 when the schedule is \"sequential\"");
  EXPECT_EQ(error(R"("name": "x", "schedule": "sequential", "route": "cpu", "cpu_buffer": 0)"),
            "p.json: cpu_buffer: 0 is out of range; use 1 to 4096");
}

TEST(Plan, MoreWorkersThanCoresAreRefused) {
  auto plan = find_plan("salient");
  plan.workers = 65;
  EXPECT_EQ(error_of([&] {
              resolve(plan, {64, true}, "s.json");
            }),
            "s.json: workers: 65 is more than this machine's 64 cores");
}

TEST(Plan, UnknownNameListsThePresets) {
  EXPECT_EQ(error_of([] { find_plan("saliant"); }),
            "plan: \"saliant\" is not known; use a file ending in .json or one of device, gnomon, morphgl, "
            "pyg, salient");
}

TEST(Job, RoundTrip) {
  Job job;
  job.model = ModelKind::gat;
  job.fanouts = {-1, 4};
  job.seed = 18000000000000000000ULL;
  EXPECT_EQ(base::from_document<Job>(base::to_document(job), "test"), job);
}

TEST(Job, ImpossibleOnesNameTheField) {
  Job job;
  job.fanouts = {10, 0};
  EXPECT_EQ(error_of([&] { check(job, "job"); }),
            "job: fanouts: 0 draws nothing; use 1 to 512, or -1 for all neighbours");
  job.fanouts = {};
  EXPECT_EQ(error_of([&] { check(job, "job"); }),
            "job: fanouts: must be one number a layer, 1 to 16 of them");
  job.fanouts = {10};
  job.model = ModelKind::gat;
  job.hidden = 30;
  EXPECT_EQ(error_of([&] { check(job, "job"); }), "job: heads: 4 does not divide hidden = 30");
}

}  // namespace
}  // namespace gnomon::plan
