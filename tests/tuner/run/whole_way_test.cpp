#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "base/document.h"
#include "base/error.h"
#include "base/stop.h"
#include "graph/graph.h"
#include "profiles/measure/workload.h"
#include "runtime/training/trainer.h"
#include "tests/fixtures/graphs.h"
#include "tests/fixtures/temporary_directory.h"
#include "tuner/explore/exploration.h"
#include "tuner/history/history.h"
#include "tuner/run/autotune.h"
#include "tuner/run/comparison.h"
#include "tuner/run/run_directory.h"
#include "tuner/run/training.h"
#include "tuner/run/validation.h"
#include "tuner/surrogate/forecasts.h"
#include "tuner/surrogate/learned.h"
#include "tuner/surrogate/samples.h"
#include "tuner/tune.h"

/// Everything the commands do, as a library does it: no flags, no terminal.
namespace gnomon::tuner {
namespace {

namespace fs = std::filesystem;

plan::Job small_job() {
  plan::Job job;
  job.fanouts = {4, 3};
  job.batch_size = 50;
  job.hidden = 8;
  job.epochs = 2;
  return job;
}

/// Counts what is reported, and sets `stop` when a phase begins whose reports begin with `stop_at`.
struct Listener {
  std::string stop_at;
  std::set<std::string> phases{};
  std::atomic<bool> stop{false};

  base::Progress progress() {
    return [this](std::string_view what, std::int64_t, std::int64_t) {
      phases.emplace(what);
      stop = stop || (!stop_at.empty() && what.starts_with(stop_at));
    };
  }
  bool heard(const std::string& beginning) const {
    return std::any_of(phases.begin(), phases.end(),
                       [&](const std::string& phase) { return phase.starts_with(beginning); });
  }
};

class WholeWay : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_.emplace();
    place_ = directory_->path();
    graph::generate(test::tiny_partition(), place_ / "tiny");
    profiles::MeasureOptions measure;
    measure.asked_interval = 0.2;
    measure.time_limit_s = 2;
    profile_ = profiles::measure(graph::open_store(place_ / "tiny"), small_job(), measure);
  }
  static void TearDownTestSuite() { directory_.reset(); }

  AutotuneOptions autotune_options(const std::string& run, Listener& listener) const {
    AutotuneOptions options;
    options.data = "tiny";
    options.files = make_run_directory((place_ / run).string(), {});
    options.job = small_job();
    options.interval = 0.2;
    options.time_limit_s = 2;
    options.tuning.budget = Budget{.evaluations = 20};
    options.progress = listener.progress();
    options.stop = &listener.stop;
    return options;
  }

  const graph::Graph graph_ = graph::open_store(place_ / "tiny");
  static inline std::optional<test::TemporaryDirectory> directory_;
  static inline fs::path place_;
  static inline profiles::Profile profile_;
};

TEST_F(WholeWay, TunesAProfile) {
  Listener listener;
  TuningOptions options;
  options.budget = Budget{.evaluations = 20};
  options.front = true;
  const auto tuning = tune(profile_, options, {}, listener.progress());
  EXPECT_TRUE(listener.heard("tuning"));
  ASSERT_FALSE(tuning.candidates.empty());
  EXPECT_GE(tuning.best().prediction.epoch_s, tuning.best().prediction.lower_bound_s);
  EXPECT_GT(tuning.found.evaluated.size(), 5U);
  EXPECT_LE(tuning.found.evaluated.size(), 20U) << "the search may end before its budget";
  EXPECT_GT(tuning.plans, 20);
  EXPECT_FALSE(tuning.front.empty());
  EXPECT_FALSE(tuning.sensitivities.empty());
  const auto document = to_document(tuning);
  EXPECT_GT(tuning.interval_s().value_or(0), 0);
  EXPECT_EQ(document["interval_s"], tuning.interval_s().value_or(0));
  EXPECT_EQ(document["schema"], "gnomon.tuning/1");
  EXPECT_EQ(document["best"], tuning.best().plan.name);
  EXPECT_GT(document["candidates"][0]["prediction"]["epoch_s"], 0);
}

TEST_F(WholeWay, MeasuresPredictsAndValidatesOnAnEmulatedDevice) {
  profiles::MeasureOptions measure;
  measure.asked_interval = 0.2;
  measure.time_limit_s = 3;
  measure.device = {.kind = plan::DeviceKind::emulated,
                    .max_bytes = std::int64_t{64} << 20,
                    .link = {.bandwidth_bytes_per_s = 2e8, .round_trip_s = 2e-6, .outstanding_reads = 64},
                    .name = "test"};
  const auto profile = profiles::measure(graph_, small_job(), measure);
  const auto& machine = profile.machine;
  EXPECT_EQ(machine.device.kind, plan::DeviceKind::emulated);
  EXPECT_EQ(machine.device.name, "emulated test");
  EXPECT_EQ(machine.device.memory_bytes, 64 << 20);
  EXPECT_EQ(machine.device.context_bytes, 0);
  EXPECT_EQ(machine.link.outstanding_reads, 64);
  EXPECT_EQ(machine.link.round_trip_s, 2e-6);
  ASSERT_TRUE(machine.link.bandwidth_bytes_per_s);
  EXPECT_LE(*machine.link.bandwidth_bytes_per_s, 2e8);
  EXPECT_GT(*machine.link.bandwidth_bytes_per_s, 1e8);
  EXPECT_GE(profile.workload.transfer.mean_s, profile.workload.batch_bytes / 2e8 / 2);
  EXPECT_GT(profile.workload.device_batch_link_s, 0);
  std::vector<plan::Plan> plans;
  for (const char* name : {"pagraph", "ducati", "t_sota"}) {
    plans.push_back(plan::resolve(plan::find_plan(name), profiles::cores_of(profile), name));
  }
  ValidationOptions options;
  options.rounds = Rounds::exactly(3);
  options.device = measure.device;
  for (const auto& result : validate(graph_, profile, plans, options)) {
    ASSERT_EQ(result.measured_s.size(), 3U);
    // Of epochs of milliseconds, the fastest is the one that no other program interrupted.
    const double measured_s = std::ranges::min(result.measured_s);
    EXPECT_GT(result.predicted_s, measured_s / 10) << result.plan.name;
    EXPECT_LT(result.predicted_s, measured_s * 10) << result.plan.name;
    EXPECT_GT(result.predicted_device_bytes.value_or(0), 0) << result.plan.name;
    ASSERT_TRUE(result.measured_device_bytes) << result.plan.name;
    EXPECT_GT(*result.measured_device_bytes, profile.workload.batch_bytes) << result.plan.name;
    EXPECT_LE(*result.measured_device_bytes, 64 << 20) << result.plan.name;
    if (result.plan.topology == plan::Home::device) {
      EXPECT_GT(*result.measured_device_bytes, 4 * static_cast<double>(graph_.num_edges()))
          << result.plan.name;
    }
  }
}

TEST_F(WholeWay, ComparesPresetsAndSaysWhyOthersDoNotRun) {
  Listener listener;
  ComparisonOptions options;
  options.rounds = Rounds::exactly(2);
  options.progress = listener.progress();
  std::vector<std::string> asked;
  options.peak_memory = [&](const plan::Plan& plan) {
    asked.push_back(plan.name);
    return 5e6;
  };
  auto too_many = plan::find_plan("salient");
  too_many.name = "too many";
  too_many.workers = 4000;
  const auto comparison = compare(graph_, profile_,
                                  {plan::find_plan("ducati"), plan::find_plan("dgl"), too_many,
                                   plan::find_plan("device"), plan::find_plan("hanoi")},
                                  options);
  EXPECT_EQ(asked, (std::vector<std::string>{"dgl", "device"}));
  ASSERT_EQ(comparison.presets.size(), 2U);
  const auto& best = comparison.presets.front();
  const auto& other = comparison.presets.back();
  EXPECT_EQ(best.over_best, 0);
  EXPECT_LE(best.epochs.median_s, other.epochs.median_s);
  EXPECT_DOUBLE_EQ(other.over_best, other.epochs.median_s / best.epochs.median_s - 1);
  EXPECT_EQ(best.weights_hash, other.weights_hash);
  EXPECT_EQ(best.test_accuracy, other.test_accuracy);
  EXPECT_EQ(best.epochs.measured_s.size(), 2U);
  EXPECT_EQ(best.epochs.measured_bytes, 5e6);
  EXPECT_EQ(best.epochs.measured_device_bytes, std::nullopt) << "the host's memory is no device's";
  runtime::TrainOptions training{
      .job = small_job(),
      .plan = plan::resolve(plan::find_plan("device"), profiles::cores_of(profile_), "device")};
  EXPECT_EQ(best.weights_hash, runtime::train(graph_, training).weights_hash);
  ASSERT_EQ(comparison.left_out.size(), 3U);
  EXPECT_EQ(comparison.left_out[0].preset, "ducati");
  EXPECT_EQ(comparison.left_out[0].why.find("this device does not execute cache.policy"), 0U);
  EXPECT_NE(comparison.left_out[1].why.find("4000 is more than this machine's"), std::string::npos);
  EXPECT_NE(comparison.left_out[2].why.find("disk"), std::string::npos) << comparison.left_out[2].why;
  EXPECT_TRUE(listener.heard("training, plan 2 of 5 (dgl)"));
}

TEST_F(WholeWay, ComparisonsLeaveOutWhatDoesNotFitInMemory) {
  ComparisonOptions options;
  options.device = {
      .kind = plan::DeviceKind::emulated, .max_bytes = 1 << 20, .link = {.bandwidth_bytes_per_s = 1e9}};
  auto roomy = profile_;  // predicts that everything fits
  roomy.machine.device.kind = plan::DeviceKind::emulated;
  roomy.machine.device.memory_bytes = 1e12;
  auto on_device = plan::find_plan("dgl-uva");
  on_device.device_memory_bytes = 20'000;
  auto small = roomy;
  small.machine.device.memory_bytes = 1000;
  for (const auto& profile : {roomy, small}) {
    const auto comparison = compare(graph_, profile, {on_device}, options);
    EXPECT_TRUE(comparison.presets.empty());
    ASSERT_EQ(comparison.left_out.size(), 1U);
    EXPECT_EQ(comparison.left_out[0].why.find("device memory"), 0U) << comparison.left_out[0].why;
  }
}

TEST_F(WholeWay, TunesByAnyPredictor) {
  const EvaluateOn by_workers = [](const profiles::Profile&, const std::vector<plan::Plan>& plans) {
    std::vector<sim::Prediction> predictions(plans.size());
    for (std::size_t i = 0; i < plans.size(); ++i) {
      predictions[i].epoch_s = 1 + std::abs(plans[i].workers - 1);
      predictions[i].lower_bound_s = 0.5;
    }
    return predictions;
  };
  TuningOptions options;
  options.budget = Budget{.evaluations = 30};
  const auto tuning = tune(profile_, options, by_workers);
  EXPECT_EQ(tuning.best().plan.workers, 1);
  EXPECT_EQ(tuning.best().prediction.epoch_s, 1);
}

TEST_F(WholeWay, TuningThatIsStoppedThrows) {
  Listener listener{.stop_at = "tuning"};
  EXPECT_THROW(tune(profile_, {}, {}, listener.progress(), &listener.stop), base::Interrupted);
}

TEST_F(WholeWay, AutotunesAndTrains) {
  Listener listener;
  auto options = autotune_options("run", listener);
  std::vector<std::string> events;
  options.on_profile = [&](const profiles::Profile& profile) {
    EXPECT_EQ(profile.workload.vertices, 600);
    events.emplace_back("profile");
  };
  options.on_tuning = [&](const Tuning& tuning, const Verification& verification) {
    EXPECT_FALSE(tuning.candidates.empty());
    EXPECT_FALSE(verification.best().name.empty());
    events.emplace_back("tuning");
  };
  options.on_epoch = [&](const runtime::EpochReport&, const EpochUtilisation& utilisation) {
    EXPECT_GE(utilisation.device, 0);
    events.emplace_back("epoch");
  };
  const History history;
  history.forget();
  const auto result = autotune(graph_, options);
  EXPECT_EQ(events, (std::vector<std::string>{"profile", "tuning", "epoch", "epoch"}));
  EXPECT_GE(listener.phases.size(), 3U) << "measuring, tuning and training";
  EXPECT_EQ(result.training.report.epochs.size(), 2U);
  EXPECT_GT(result.predicted_epoch_s, 0);
  EXPECT_GT(result.measured_epoch_s(), 0);
  EXPECT_EQ(result.verification.best.name, result.training.plan.name);
  const auto& files = options.files;
  for (const auto& file :
       {files.profile(), files.tuning(), files.plan(), files.job(), files.report(), files.trace()}) {
    EXPECT_TRUE(fs::exists(file)) << file;
  }
  const auto document = to_document(result);
  EXPECT_EQ(document["training"]["weights_hash"], result.training.report.weights_hash);
  EXPECT_EQ(document["fidelities"]["real_runs"], result.verification.turns);
  const auto kept = history.read();
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].graph, graph_of(result.profile.workload));
  EXPECT_TRUE(std::any_of(kept[0].plans.begin(), kept[0].plans.end(),
                          [&](const PlanOutcome& of) { return of.plan == result.training.plan.name; }));

  // The same job by one of the plans alone ends with the same bits.
  TrainingRun run;
  run.data = "tiny";
  run.files = make_run_directory((place_ / "alone").string(), {});
  run.job = small_job();
  run.plan = result.training.plan;
  EXPECT_EQ(run_training(graph_, run).report.weights_hash, result.training.report.weights_hash);
}

// However far the race of plans came, the directory holds its best plan, and the profile what its turns told.
TEST_F(WholeWay, AutotuneLeavesTheBestPlanOfARaceThatTheTrainingEnds) {
  Listener listener;
  for (const std::int64_t epochs : {15, 30}) {
    auto options = autotune_options("race" + std::to_string(epochs), listener);
    options.job.epochs = epochs;
    options.job.batch_size = 12;
    options.job.hidden = 64;
    options.evaluate_every = 0;
    const auto result = autotune(graph_, options);
    EXPECT_EQ(base::to_document(plan::read_plan(options.files.plan())),
              base::to_document(result.verification.best))
        << epochs;
    const auto kept = profiles::read_profile(options.files.profile());
    EXPECT_EQ(kept.corrections.has_value(), result.profile.corrections.has_value());
    const auto& plans = result.verification.plans;
    EXPECT_EQ(kept.corrections.has_value(),
              std::any_of(plans.begin(), plans.end(), [](const VerifiedPlan& of) { return of.turns > 0; }));
  }
}

// A short training is not worth seconds of measuring, whatever the time limit allows.
TEST_F(WholeWay, AutotuneMeasuresNoLongerThanTheTrainingIsWorth) {
  Listener listener;
  auto options = autotune_options("short", listener);
  options.interval = 1e-6;
  options.time_limit_s = 30;
  options.profile_share = 0.1;
  const auto result = autotune(graph_, options);
  EXPECT_LT(result.costs.profile_s, 10) << "of 30 s";
  EXPECT_LT(result.profile.time_limit_s, 10);
  const auto costs = to_document(result)["costs"];
  EXPECT_NEAR(costs["total_s"].get<double>(), result.costs.total_s(), 1e-12);
  EXPECT_NEAR(costs["share_of_training"].get<double>(), result.costs.total_s() / result.training_s(), 1e-9);
}

TEST_F(WholeWay, AutotuneTakesAProfileInPlaceOfMeasurements) {
  Listener listener;
  auto options = autotune_options("given", listener);
  options.profile = profile_;
  const auto result = autotune(graph_, options);
  EXPECT_FALSE(listener.heard("measuring"));
  EXPECT_EQ(result.profile.workload.train.mean_s, profile_.workload.train.mean_s);

  auto machine = profile_.machine;
  machine.name = "other";
  machine.cpu.cores = 1000;
  options = autotune_options("moved", listener);
  options.profile = profile_;
  options.machine = machine;
  const auto moved = autotune(graph_, options);
  EXPECT_EQ(moved.profile.machine.name, "other");
  EXPECT_EQ(moved.profile.machine.cpu.cores, profile_.machine.cpu.cores) << "no more than there are";
  EXPECT_EQ(moved.training.report.weights_hash, result.training.report.weights_hash);

  options.machine->device.kind = profiles::DeviceKind::cuda;
  EXPECT_THROW(autotune(graph_, options), base::InputError);
  options.machine.reset();
  options.profile->workload.job.hidden += 1;
  EXPECT_THROW(autotune(graph_, options), base::InputError);
  options.profile = profile_;
  options.profile->workload.vertices += 1;
  EXPECT_THROW(autotune(graph_, options), base::InputError);
}

TEST_F(WholeWay, AutotuningThatIsStoppedCanBeResumed) {
  Listener listener;
  auto options = autotune_options("stopped", listener);
  options.on_epoch = [&](const runtime::EpochReport&, const EpochUtilisation&) { listener.stop = true; };
  EXPECT_THROW(autotune(graph_, options), base::Interrupted);
  TrainingRun run;
  run.data = "tiny";
  run.files = options.files;
  run.job = base::read_document<plan::Job>(run.files.job());
  run.plan = base::read_document<plan::Plan>(run.files.plan());
  run.resume = true;
  EXPECT_EQ(run_training(graph_, run).report.epochs.size(), 1U) << "the second epoch";
}

TEST_F(WholeWay, MeasuringThatIsStoppedThrows) {
  Listener listener;
  listener.stop = true;
  EXPECT_THROW(autotune(graph_, autotune_options("early", listener)), base::Interrupted);
  EXPECT_FALSE(fs::exists(place_ / "early" / "profile.json"));
}

TEST_F(WholeWay, ValidatesUntilEpochsTookLongEnough) {
  const auto plans = std::vector{plan::resolve(plan::find_plan("dgl"), profiles::cores_of(profile_), "dgl")};
  const auto epochs = [&](const Rounds& rounds) {
    ValidationOptions options;
    options.rounds = rounds;
    return validate(graph_, profile_, plans, options).front().measured_s.size();
  };
  EXPECT_EQ(epochs({.min = 2, .max = 4, .seconds = 1e-9}), 2U);
  EXPECT_EQ(epochs({.min = 2, .max = 4, .seconds = 1e9}), 4U);
}

TEST_F(WholeWay, ValidatesPlans) {
  Listener listener;
  ValidationOptions options;
  options.rounds = Rounds::exactly(2);
  options.progress = listener.progress();
  options.stop = &listener.stop;
  const auto cores = profiles::cores_of(profile_);
  auto plans = plans_to_validate(cores);
  EXPECT_GE(plans.size(), 8U);
  plans.resize(2);
  std::vector<std::string> asked;
  options.peak_memory = [&](const plan::Plan& plan) {
    asked.push_back(plan.name);
    return 5e8;
  };
  const auto results = validate(graph_, profile_, plans, options);
  EXPECT_TRUE(listener.heard("round 2 of 2, plan 2 of 2"));
  ASSERT_EQ(results.size(), 2U);
  for (const auto& result : results) {
    EXPECT_EQ(result.measured_s.size(), 2U);
    EXPECT_GT(result.median_s, 0);
    EXPECT_TRUE(std::isfinite(result.error()));
  }
  EXPECT_EQ(asked, (std::vector{plans[0].name, plans[1].name}));
  const auto document = to_document(results, "tiny", "p.json")["plans"];
  ASSERT_EQ(document.size(), 2U);
  EXPECT_EQ(document[0]["measured_bytes"], 5e8);
  EXPECT_GT(document[0]["predicted_bytes"], 1e7);
  EXPECT_TRUE(corrections_by(results, profile_).train);
  listener.stop = true;
  EXPECT_THROW(validate(graph_, profile_, plans, options), base::Interrupted);
}

TEST_F(WholeWay, ExploresAProfile) {
  Listener listener;
  ExplorationRequest request;
  request.profiles.push_back({base::to_document(profile_), "p.json", {}});
  request.plans = plans_of("device,salient");
  request.sweeps = {parse_sweep("machine.cpu.cores=2,4")};
  request.jobs = 1;
  const auto rows = explore(request, listener.progress());
  EXPECT_TRUE(listener.heard("simulating"));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(name_of(rows[3]), "salient machine.cpu.cores=4");
  EXPECT_EQ(flat_rows(rows)[2]["machine.cpu.cores"], 4);
  EXPECT_GT(rows[0].interval_s.value_or(0), 0);
  EXPECT_EQ(flat_rows(rows)[0]["interval_s"], *rows[0].interval_s);
  listener.stop = true;
  EXPECT_THROW(explore(request, base::stoppable(listener.progress(), &listener.stop)), base::Interrupted);
}

TEST_F(WholeWay, RefusesToExploreFromAWorthlessProfile) {
  auto profile = profile_;
  profile.workload.train.interval_s = 3 * profile.workload.train.mean_s;
  ExplorationRequest request;
  request.profiles.push_back({base::to_document(profile), "p.json", {}});
  request.plans = plans_of("device");
  EXPECT_THROW(explore(request, {}), base::InputError);
}

TEST_F(WholeWay, LearnsASurrogateAndForecasts) {
  std::vector<profiles::Profile> all;
  for (int graph = 0; graph < 5; ++graph) {
    all.push_back(profile_);
    all.back().workload.graph = "graph-" + std::to_string(graph);
    all.back().workload.vertices += 100 * graph;
    all.back().workload.batches += 3 * graph;
  }
  Listener listener;
  const auto samples = samples_of(all, {.plans = 12, .seed = 1}, listener.progress());
  EXPECT_TRUE(listener.heard("predicting plans"));
  const auto learned = learn(samples, 1);
  const auto forecasts = forecasts_of(learned, profile_, {plan::find_plan("device")});
  ASSERT_EQ(forecasts.size(), 1U);
  EXPECT_GT(forecasts[0].epoch_s, 0);
  EXPECT_EQ(to_document(forecasts)["rows"][0]["plan"], "device");
  listener.stop = true;
  EXPECT_THROW(samples_of(all, {}, base::stoppable({}, &listener.stop)), base::Interrupted);
}

}  // namespace
}  // namespace gnomon::tuner
