#include "profiles/measure/workload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "base/usable.h"
#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "plan/disk_plans.h"
#include "plan/plan.h"
#include "profiles/measure/epoch.h"
#include "profiles/measure/machine.h"
#include "runtime/batch/batch_data.h"
#include "tests/fixtures/graphs.h"
#include "tests/fixtures/temporary_directory.h"
#include "tests/profiles/tiny_job.h"

namespace gnomon::profiles {
namespace {

graph::Graph tiny_graph() { return graph::generate_in_memory(test::tiny_partition()); }

void expect_sane(const StageTime& time, const char* stage) {
  EXPECT_GT(time.mean_s, 0) << stage;
  EXPECT_LE(time.p5_s, time.p50_s) << stage;
  EXPECT_LE(time.p50_s, time.p95_s) << stage;
  EXPECT_GT(time.interval_s, 0) << stage;
  EXPECT_GE(time.samples, 2) << stage;
}

TEST(Measure, FillsEveryField) {
  // Stages of milliseconds: shorter ones hardly overlap, and what they do to each other stays unknown.
  auto options = test::tiny_partition();
  options.vertices = 20'000;
  options.feature_columns = 64;
  const auto graph = graph::generate_in_memory(options);
  auto job = tiny_job(50);
  job.batch_size = 1500;
  job.hidden = 64;
  const auto profile = measure(graph, job, {.asked_interval = 1e-9, .time_limit_s = 4});
  check(profile, "profile");
  const auto& workload = profile.workload;
  EXPECT_EQ(workload.graph, "tiny");
  EXPECT_EQ(workload.vertices, 20'000);
  EXPECT_EQ(workload.edges, graph.num_edges());
  EXPECT_EQ(workload.feature_row_bytes, 256);
  EXPECT_EQ(workload.job, job);
  EXPECT_EQ(workload.batches, 8);  // 12,000 training vertices, 1,500 at a time
  expect_sane(workload.cpu_batch, "cpu_batch");
  EXPECT_EQ(workload.transfer.mean_s, 0) << "a host device takes batches as they lie";
  EXPECT_FALSE(profile.machine.contention.cpu_batch_beside_transfer.has_value());
  expect_sane(workload.device_batch, "device_batch");
  expect_sane(workload.train, "train");
  EXPECT_GT(workload.parts.fused_train_ratio.value_or(0), 0);
  EXPECT_GT(workload.parts.macro_train_ratio.value_or(0), 0);
  EXPECT_GT(workload.parts.macro_sample_ratio.value_or(0), 0);
  EXPECT_GT(workload.parts.halo_entry_s.value_or(0), 1e-10);
  EXPECT_LT(workload.parts.halo_entry_s.value_or(0), 1e-6);
  EXPECT_GT(workload.parts.biased_sample_ratio.value_or(0), 0);
  ASSERT_TRUE(workload.parts.device_sample_s.has_value());
  EXPECT_GT(*workload.parts.device_sample_s, 0);
  EXPECT_LE(*workload.parts.device_sample_s, workload.device_batch.mean_s);
  ASSERT_TRUE(workload.evaluation.has_value());
  EXPECT_GT(workload.evaluation->time_s.value_or(0), 0);
  EXPECT_EQ(profile.machine.cpu.cores, base::usable_cores());
  EXPECT_EQ(workload.worker_efficiency.front().threads, 1);
  EXPECT_EQ(workload.worker_efficiency.back().threads, base::usable_cores());
  EXPECT_EQ(workload.cpu_batch_speedup.back().threads, base::usable_cores());
  EXPECT_EQ(workload.train_speedup.back().threads, base::usable_cores());
  EXPECT_EQ(workload.device_batch_speedup.back().threads, base::usable_cores());
  EXPECT_GE(workload.parts.max_batch_bytes.value_or(0), workload.batch_bytes);
  // The program and LibTorch are mapped, but no graph's gigabytes.
  EXPECT_GT(profile.machine.cpu.runtime_bytes.value_or(0), 2e7);
  EXPECT_LT(profile.machine.cpu.runtime_bytes.value_or(0), 2e9);
  EXPECT_TRUE(profile.other_load.has_value());
  const auto& contention = profile.machine.contention;
  EXPECT_EQ(contention.crowded_team.has_value(), base::usable_cores() > 1);
  EXPECT_EQ(contention.beside_crowded_team.has_value(), base::usable_cores() > 1);
}

// With no time for more than the stages alone, numbers of what runs side by side are beliefs.
TEST(Measure, BelievesWhatThereWasNoTimeFor) {
  const auto profile = measure(tiny_graph(), tiny_job(50), {.asked_interval = 1e-9, .time_limit_s = 1e-6});
  const auto samples_of = [&](const std::string& quantity) {
    const auto belief = std::ranges::find(profile.beliefs, quantity, &Belief::of);
    return belief == profile.beliefs.end() ? -1 : belief->samples;
  };
  EXPECT_EQ(samples_of("fused_train_ratio"), 0);
  EXPECT_EQ(samples_of("train_beside_cpu_batch"), base::usable_cores() > 1 ? 0 : -1);
  EXPECT_GT(samples_of("train"), 0);
  check(profile, "profile");
}

// Rounds measure what is chosen, and nothing that no plan depends on which leaves the training as it is.
TEST(Measure, MeasuresWhatIsChosen) {
  MeasureOptions options{.asked_interval = 1e-9, .time_limit_s = 30};
  options.precise = options.all = false;
  int rounds = 0;
  options.choose = [&](const Profile& so_far, std::span<const Measurement> measurements, double left_s) {
    check(so_far, "so far");
    EXPECT_GT(left_s, 0);
    for (std::size_t i = 0; i < measurements.size(); ++i) {
      const auto& informs = measurements[i].informs;
      if (rounds < 3 && std::ranges::find(informs, "fused_train_ratio") != informs.end()) {
        ++rounds;
        EXPECT_EQ(measurements[i].taken, rounds - 1);
        return std::vector<std::size_t>{i};
      }
    }
    return std::vector<std::size_t>{};
  };
  const auto profile = measure(tiny_graph(), tiny_job(50), options);
  EXPECT_EQ(rounds, 3);
  EXPECT_EQ(profile.stopped_by, "regret");
  for (const auto& belief : profile.beliefs) {
    if (belief.of == "fused_train_ratio") {
      EXPECT_EQ(belief.samples, 3);
    } else if (belief.of.find("speedup") != std::string::npos) {
      EXPECT_EQ(belief.samples, 0) << belief.of;
    }
  }
  EXPECT_FALSE(profile.workload.hot_batch.has_value());
  EXPECT_FALSE(profile.workload.parts.biased_sample_ratio.has_value());
}

TEST(Measure, CountsBatchesAsTheSamplerMakesThem) {
  const auto graph = tiny_graph();
  const auto job = tiny_job(50);
  const auto workload = measure(graph, job, {.asked_interval = 0.5, .time_limit_s = 3}).workload;
  double vertices = 0;
  double edges = 0;
  double bytes = 0;
  kernels::cpu::Sampler sampler(graph, job.fanouts);
  const auto order = graph::epoch_order(graph.train, job.seed, 0);
  runtime::BatchData data;
  for (std::int64_t batch = 0; batch < workload.batches; ++batch) {
    runtime::prepare_batch(graph, sampler, {job.seed, 0, static_cast<std::uint64_t>(batch)},
                           graph::batch_seeds(order, job.batch_size, batch), data);
    vertices += static_cast<double>(data.batch.vertices.size()) / static_cast<double>(workload.batches);
    edges += static_cast<double>(data.batch.num_edges()) / static_cast<double>(workload.batches);
    bytes += static_cast<double>(data.bytes()) / static_cast<double>(workload.batches);
  }
  // Means over other epochs. The last mini-batch of eight, a fifth of the others, counts as an eighth.
  EXPECT_NEAR(workload.batch_vertices, vertices, 0.03 * vertices);
  EXPECT_NEAR(workload.batch_edges, edges, 0.03 * edges);
  ASSERT_TRUE(workload.work.has_value());
  EXPECT_EQ(workload.work->sampling.front().work, Work::random_lines) << "one of each edge's list";
  EXPECT_NEAR(workload.work->sampling.front().count, edges, 0.03 * edges);
  EXPECT_NEAR(workload.batch_bytes, bytes, 0.03 * bytes);
}

TEST(Measure, RoundTripsAsADocument) {
  const auto profile = measure(tiny_graph(), tiny_job(50), {.asked_interval = 0.5, .time_limit_s = 1});
  const test::TemporaryDirectory directory;
  const auto path = directory / "profile.json";
  base::write_document(path, profile);
  EXPECT_EQ(base::to_document(read_profile(path)), base::to_document(profile));
}

TEST(Measure, EndsWhenItIsSure) {
  // The mean's relative interval of non-negative times is at most Student's t, whatever the machine does, and
  // that of ten batch means is 2.3: asked for 2.5, a disturbance cannot make it last until the limit.
  constexpr double asked = 2.5;
  const auto profile = measure(tiny_graph(), tiny_job(50), {.asked_interval = asked, .time_limit_s = 300});
  EXPECT_EQ(profile.stopped_by, "interval");
  const auto& workload = profile.workload;
  for (const StageTime* time : {&workload.cpu_batch, &workload.device_batch, &workload.train}) {
    EXPECT_TRUE(time->converged);
    EXPECT_GE(time->samples, StopRule{}.min_samples);
    EXPECT_LE(time->interval_s, asked * time->mean_s);
  }
}

TEST(Measure, SaysThatTheTimeLimitStoppedIt) {
  const auto profile = measure(tiny_graph(), tiny_job(50), {.asked_interval = 1e-9, .time_limit_s = 0.3});
  EXPECT_EQ(profile.stopped_by, "time_limit");
  EXPECT_FALSE(profile.workload.train.converged);
  EXPECT_EQ(profile.time_limit_s, 0.3);
  check(profile, "profile");
}

TEST(Measure, OneBatchIsEnough) {
  auto job = tiny_job(50);
  job.batch_size = 1000;
  const auto profile = measure(tiny_graph(), job, {.asked_interval = 0.5, .time_limit_s = 1});
  EXPECT_EQ(profile.workload.batches, 1);
  check(profile, "profile");
}

TEST(Measure, StopsWhenAsked) {
  std::atomic<bool> stop = true;
  EXPECT_THROW(measure(tiny_graph(), tiny_job(50), {.stop = &stop}), base::Interrupted);
  stop = false;
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop = true;
  });
  EXPECT_THROW(
      measure(tiny_graph(), tiny_job(50), {.asked_interval = 1e-9, .time_limit_s = 1e6, .stop = &stop}),
      base::Interrupted);
  user.join();
}

TEST(Measure, ReportsProgressThatGrows) {
  std::int64_t last = 0;
  bool grew = true;
  int reports = 0;
  const auto progress = [&](std::string_view, std::int64_t done, std::int64_t total) {
    if (total > 100) {  // of the rounds, in milliseconds
      ++reports;
      grew = grew && done >= last && done <= total;
      last = done;
    }
  };
  measure(tiny_graph(), tiny_job(50), {.asked_interval = 1e-9, .time_limit_s = 0.5, .progress = progress});
  EXPECT_GT(reports, 1);
  EXPECT_TRUE(grew);
}

TEST(Measure, NamesAJobThatCannotRun) {
  auto job = tiny_job(50);
  job.fanouts = {0};
  EXPECT_THROW(measure(tiny_graph(), job, {}), base::InputError);
}

TEST(MeasureEpoch, ShortEpochsFollowOneAnother) {
  const auto graph = tiny_graph();
  const auto plan = plan::resolve(plan::find_plan("device"), {base::usable_cores()}, "device");
  std::int64_t trained = 0;
  const auto count = [&](std::string_view, std::int64_t, std::int64_t) { ++trained; };
  const EpochOptions options{.warm_up_batches = 1, .min_s = 0.05, .progress = count};
  const auto epoch = measure_epoch(graph, tiny_job(50), plan, options);
  EXPECT_EQ(std::ssize(epoch.timeline), 2 * 8) << "of one epoch";
  EXPECT_GE(epoch.seconds * static_cast<double>((trained - 1) / 8), 0.05 / 2);
  EXPECT_EQ(trained % 8, 1);
}

TEST(MeasureEpoch, RunsEveryPresetAndWatchesTheStopFlag) {
  const auto graph = tiny_graph();
  for (const auto& preset : plan::runnable_presets_in_memory()) {
    const auto plan = plan::resolve(preset, {base::usable_cores()}, preset.name);
    std::int64_t trained = 0;
    const auto progress = [&](std::string_view, std::int64_t done, std::int64_t) { trained = done; };
    const auto epoch = measure_epoch(graph, tiny_job(50), plan, {.warm_up_batches = 3, .progress = progress});
    EXPECT_GT(epoch.seconds, 0);
    // Historical embeddings are kept up to date by training on all vertices.
    const bool trains_all = plan.embeddings.reuse == plan::Reuse::all;
    // Each macro-batch has mini-batches of its own, of which the last is smaller.
    const bool by_parts = plan.schedule == plan::Schedule::macro_batch;
    const auto spans = std::count_if(epoch.timeline.begin(), epoch.timeline.end(),
                                     [](const auto& span) { return span.stage == schedule::Stage::train; });
    const std::int64_t batches = trains_all
                                     ? graph::num_batches(graph.num_vertices(), tiny_job(50).batch_size)
                                 : by_parts ? 16
                                            : 8;
    EXPECT_EQ(trained, 3 + batches) << plan.name;
    EXPECT_EQ(spans, batches) << "not what warmed up";
    const std::atomic<bool> stop = true;
    EXPECT_THROW(measure_epoch(graph, tiny_job(50), plan, {.stop = &stop}), base::Interrupted) << plan.name;
  }
}

}  // namespace
}  // namespace gnomon::profiles
