#include "plan/plan.h"

#include <gtest/gtest.h>

#include <cmath>
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
      for (const auto device : {DeviceKind::host, DeviceKind::cuda}) {
        const auto plan = resolve(preset, {cores, device}, "test");
        EXPECT_EQ(plan.workers > 0, plan.uses_workers()) << preset.name;
        EXPECT_GE(plan.devices, 1) << preset.name;
        EXPECT_GE(plan.device_threads, 1);
        EXPECT_LE(plan.workers, cores);
        EXPECT_LE(plan.device_threads, cores);
        EXPECT_EQ(resolve(plan, {cores, device}, "again"), plan);
      }
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a3gnn-mode1", "a3gnn-mode2", "a3gnn-sequential",
                                             "device",      "dgl",         "dgl-uva",
                                             "dsp",         "ducati",      "ducati-delta",
                                             "gas",         "ginex",       "gnnlab",
                                             "gnomon",      "hanoi",       "joestar-1",
                                             "joestar-2",   "mariusgnn",   "morphgl",
                                             "neutronorch", "ns-ext",      "ns-mem",
                                             "pagraph",     "pyg",         "pytorch-direct",
                                             "quiver",      "salient",     "sota",
                                             "t_sota"}));
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
  plan.worker_threads = 4;
  plan.cpu_buffer = 5;
  plan.device_buffer = 6;
  plan.look_ahead = 7;
  plan.copy_during_device_batch = true;
  plan.handover_copies = 1;
  plan.device_threads = 2;
  plan.pinning = Pinning::cores;
  plan.placement = Placement::interleave;
  plan.gather = Gather::trainer;
  plan.devices = 4;
  plan.device_memory_bytes = std::int64_t{1} << 34;
  plan.samplers = 2;
  plan.switch_roles = true;
  plan.cpu_share = 0.25;
  plan.prepare_share = 0.125;
  plan.topology = Home::disk;
  plan.features = Home::device;
  plan.cache = {CachePolicy::value_weight, false, true, Home::host, 0.5, true};
  plan.unaligned_reads = true;
  plan.bias = 3;
  plan.embeddings = {Reuse::halo, 0.75};
  plan.super_batch = 9;
  plan.macro = {11, 3, 2, 0.0625, Partitioner::gnn_aware, true};
  plan.fused = true;
  plan.graphs = true;
  EXPECT_EQ(base::from_document<Plan>(base::to_document(plan), "test"), plan);
}

TEST(Plan, ContradictionsNameTheField) {
  const auto error = [](const std::string& fields) { return error_of([&] { parse(fields); }); };
  EXPECT_EQ(
      error(R"("name": "x", "schedule": "pipelined", "route": "both")"),
      "p.json: route: \"both\" cannot be combined with schedule \"pipelined\"; use \"cpu\" or \"device\"");
  EXPECT_EQ(error(R"("name": "x", "schedule": "pipelined", "route": "device")"),
            "p.json: prepare_share: must be above 0 when schedule \"pipelined\" has route \"device\"");
  EXPECT_EQ(error(R"("name": "x", "schedule": "factored", "route": "device")"),
            "p.json: gather: \"sampler\" cannot be combined with schedule \"factored\"; use \"trainer\"");
  EXPECT_EQ(
      error(R"("name": "x", "schedule": "factored", "route": "device", "gather": "trainer", "devices": 2,
                     "samplers": 2)"),
      "p.json: samplers: 2 of 2 devices leave none to train");
  EXPECT_EQ(
      error(R"("name": "x", "schedule": "pipelined", "route": "cpu", "features": "disk", "fused": true)"),
      "p.json: fused: reads features in memory; use features \"host\" or \"device\"");
  EXPECT_EQ(error(R"("name": "x", "schedule": "sequential", "route": "device", "features": "disk")"),
            "p.json: features: \"disk\" needs route \"cpu\"");
  EXPECT_EQ(error(R"("name": "x", "schedule": "pipelined", "route": "cpu", "bias": 2)"),
            "p.json: exact: must be false when bias is above 1, embeddings are reused or batches come from "
            "macro-batches");
  EXPECT_EQ(error(R"("name": "x", "schedule": "macro_batch", "route": "device", "exact": false,
                     "macro": {"partitions": 2, "resident": 3})"),
            "p.json: macro.resident: 3 is more than macro.partitions = 2");
  // Nothing would load macro-batches of what lies on the device.
  EXPECT_EQ(
      error(R"("name": "x", "schedule": "macro_batch", "route": "device", "exact": false,
                     "features": "device")"),
      "p.json: features: must be \"disk\" with route \"cpu\" and \"host\" with route \"device\" when the "
      "schedule is \"macro_batch\"");
  EXPECT_EQ(error(R"("name": "x", "schedule": "sequential", "route": "device", "cache": {"policy": "lru"})"),
            "p.json: cache.policy: \"lru\" is not known; use one of none, random, out_degree, presample, "
            "value_weight, recent, optimal");
  EXPECT_EQ(
      error(R"("name": "x", "schedule": "sequential", "route": "both")"),
      "p.json: route: \"both\" cannot be combined with schedule \"sequential\"; use \"cpu\" or \"device\"");
  EXPECT_EQ(error(R"("name": "x", "schedule": "dual_buffer", "route": "both")"),
            "p.json: order: \"index\" cannot be combined with schedule \"dual_buffer\"; use \"as_ready\"");
  EXPECT_EQ(error(R"("name": "x", "schedule": "claim_ahead", "route": "both", "order": "as_ready")"),
            "p.json: order: \"as_ready\" cannot be combined with schedule \"claim_ahead\"; use \"index\"");
  EXPECT_EQ(error(R"("name": "x", "schedule": "sequential", "route": "device", "workers": 1)"),
            "p.json: workers: must be 0 when the route is \"device\"");
  EXPECT_EQ(error(R"("name": "x", "schedule": "sequential", "route": "cpu", "workers": 2)"),
            "p.json: workers: must be 0 or 1 when the schedule is \"sequential\"");
  EXPECT_EQ(error(R"("name": "x", "schedule": "sequential", "route": "device", "worker_threads": 2)"),
            "p.json: worker_threads: must be 1 when the plan has no CPU workers");
  EXPECT_EQ(error(R"("name": "x", "schedule": "sequential", "route": "device", "pinning": "cores")"),
            "p.json: pinning: \"cores\" pins CPU workers, and the plan has none; use \"none\"");
  EXPECT_EQ(error(R"("name": "x", "schedule": "sequential", "route": "cpu", "topology": "disk",
                     "features": "disk", "placement": "interleave")"),
            "p.json: placement: \"interleave\" spreads what lies in host memory, and nothing does; use "
            "\"first_touch\"");
  EXPECT_EQ(error(R"("name": "x", "schedule": "sequential", "route": "cpu", "pinning": "sockets")"),
            "p.json: pinning: \"sockets\" is not known; use one of none, cores");
  EXPECT_EQ(error(R"("name": "x", "schedule": "sequential", "route": "cpu", "cpu_buffer": 0)"),
            "p.json: cpu_buffer: 0 is out of range; use 1 to 4096");
}

TEST(Plan, MoreDevicesThanThereAreAreRefused) {
  auto plan = find_plan("salient");
  plan.devices = 3;
  EXPECT_EQ(error_of([&] {
              resolve(plan, {8, DeviceKind::cuda, 2}, "s.json");
            }),
            "s.json: devices: 3 is more than this machine's 2");
  plan.devices = 0;
  EXPECT_EQ(resolve(plan, {8, DeviceKind::cuda, 2}, "s.json").devices, 2);
}

TEST(Plan, MoreWorkersThanCoresAreRefused) {
  auto plan = find_plan("salient");
  plan.workers = 65;
  EXPECT_EQ(error_of([&] { resolve(plan, {64}, "s.json"); }),
            "s.json: workers: 65 is more than this machine's 64 cores");
}

TEST(Plan, ThreadsOfAWorkerAreCores) {
  auto plan = find_plan("salient");
  plan.worker_threads = 4;
  EXPECT_EQ(resolve(plan, {16, DeviceKind::cuda}, "s.json").workers, 3);  // of 15, one being the device's
  plan.workers = 5;
  EXPECT_EQ(error_of([&] {
              resolve(plan, {16, DeviceKind::cuda}, "s.json");
            }),
            "s.json: worker_threads: 4 for each of 5 workers is more than this machine's 16 cores");
}

TEST(Plan, OpenNumbersOfWorkersAndThreadsArePhysicalCores) {
  const Cores this_host{16, DeviceKind::host, 1, 8};  // two hardware threads each
  EXPECT_EQ(resolve(find_plan("device"), this_host, "p").device_threads, 8);
  const auto shared = resolve(find_plan("salient"), this_host, "p");
  EXPECT_EQ(shared.device_threads, 4);
  EXPECT_EQ(shared.workers, 4);
  EXPECT_EQ(resolve(find_plan("salient"), {16, DeviceKind::cuda, 1, 8}, "p").workers, 7);
  EXPECT_EQ(resolve(find_plan("salient"), {2, DeviceKind::cuda, 1, 8}, "p").workers,
            1);  // a quota of two cores
  auto all = find_plan("salient");
  all.workers = 16;
  EXPECT_EQ(resolve(all, this_host, "p").workers, 16);  // if asked for
}

TEST(Plan, UnknownNameTellsSimilarPresetsOrAll) {
  EXPECT_EQ(error_of([] { find_plan("saliant"); }), "plan: \"saliant\" is not known; did you mean salient?");
  EXPECT_EQ(error_of([] { find_plan("nothing"); }),
            "plan: \"nothing\" is not known; use a plan file or one of a3gnn-mode1, a3gnn-mode2, "
            "a3gnn-sequential, device, dgl, dgl-uva, dsp, ducati, ducati-delta, gas, ginex, gnnlab, gnomon, "
            "hanoi, joestar-1, joestar-2, mariusgnn, morphgl, neutronorch, ns-ext, ns-mem, pagraph, pyg, "
            "pytorch-direct, quiver, salient, sota, t_sota");
}

TEST(Job, SurvivesARoundTrip) {
  Job job;
  job.model = ModelKind::gat;
  job.fanouts = {-1, 4};
  job.matmul_precision = MatmulPrecision::medium;
  job.norm = Norm::layer;
  job.skip = true;
  job.lr_schedule = LrSchedule::cosine;
  job.warmup_epochs = 2;
  job.metrics = {Metric::roc_auc, Metric::accuracy};
  job.seed = 18000000000000000000ULL;
  EXPECT_EQ(base::from_document<Job>(base::to_document(job), "test"), job);
}

TEST(Job, ImpossibleOnesNameTheField) {
  Job job;
  job.fanouts = {10, 0};
  EXPECT_EQ(error_of([&] { check(job, "job"); }),
            "job: fanouts: 0 draws nothing; use 1 to 512, or -1 for all neighbours");
  job.fanouts = {};
  EXPECT_EQ(error_of([&] { check(job, "job"); }), "job: fanouts: must have 1 to 16 numbers, one per layer");
  job.fanouts = {10};
  job.model = ModelKind::gat;
  job.hidden = 30;
  EXPECT_EQ(error_of([&] { check(job, "job"); }), "job: heads: 4 does not divide hidden = 30");
  job = {};
  job.lr_decay = 0.5;
  EXPECT_EQ(error_of([&] { check(job, "job"); }), "job: lr_decay: has no effect without lr_schedule step");
  job = {};
  job.metrics = {Metric::f1_macro, Metric::accuracy, Metric::f1_macro};
  EXPECT_EQ(error_of([&] { check(job, "job"); }), "job: metrics: names f1_macro twice");
}

TEST(Job, LearningRatesAreThoseOfPyTorchsSchedules) {
  Job job;
  job.learning_rate = 0.3;
  job.epochs = 7;
  const auto rates = [&] {
    std::vector<double> all;
    for (int epoch = 0; epoch < job.epochs; ++epoch) {
      all.push_back(learning_rate(job, epoch));
    }
    return all;
  };
  EXPECT_EQ(rates(), std::vector<double>(7, 0.3));
  const auto expect_near = [](const std::vector<double>& found, const std::vector<double>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], 1e-12) << "epoch " << i;
    }
  };
  // StepLR(step_size=2, gamma=0.1) after three epochs of LinearLR.
  job.warmup_epochs = 3;
  job.lr_schedule = LrSchedule::step;
  job.lr_step_epochs = 2;
  expect_near(rates(), {0.1, 0.2, 0.3, 0.3, 0.3, 0.03, 0.03});
  // CosineAnnealingLR(T_max=4).
  job.lr_schedule = LrSchedule::cosine;
  const double root = std::sqrt(0.5);
  expect_near(rates(), {0.1, 0.2, 0.3, 0.3, 0.15 * (1 + root), 0.15, 0.15 * (1 - root)});
  job.warmup_epochs = 20;  // longer than the training
  EXPECT_NEAR(learning_rate(job, 6), 0.3 * 7 / 20, 1e-12);
}

}  // namespace
}  // namespace gnomon::plan
