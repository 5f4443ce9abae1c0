#include "sim/costs/costs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "base/error.h"
#include "sim/costs/hops.h"
#include "sim/costs/model.h"
#include "sim/costs/zero_copy.h"
#include "sim/predict.h"
#include "tests/fixtures/profiles.h"

// What plans make of measured stage times. The sums are above each case.

namespace gnomon::sim {
namespace {

using plan::CachePolicy;
using plan::Gather;
using plan::Home;
using plan::Plan;
using plan::Reuse;
using plan::Route;
using plan::Schedule;

constexpr double near_s = 1e-9;

/// A batch has 100 edges (400 bytes) and 40 rows of 100 bytes; the graph's rows are 100,000 bytes.
profiles::Profile gpu_profile() {
  auto profile = test::profile_of(profiles::DeviceKind::cuda, 4, 20, {10, 4.4, 8, 6});
  profile.machine.device.memory_bandwidth_bytes_per_s = 1000;
  profile.machine.link.bandwidth_bytes_per_s = 500;
  auto& workload = profile.workload;
  workload.vertices = 1000;
  workload.edges = 4000;
  workload.feature_columns = 25;
  workload.feature_row_bytes = 100;
  workload.job.fanouts = {2, 4};
  workload.job.hidden = 10;
  workload.batch_vertices = 40;
  workload.batch_edges = 100;
  workload.batch_bytes = 4400;
  workload.device_batch_link_s = 5;
  workload.parts.cpu_sample_s = 4;
  workload.parts.device_sample_s = 3;
  workload.parts.device_sample_link_s = 2;
  return profile;
}

Plan plan_of(Schedule schedule, Route route) {
  Plan plan;
  plan.name = "plan";
  plan.schedule = schedule;
  plan.route = route;
  plan.workers = plan.uses_cpu_route() ? 1 : 0;
  plan.device_threads = 1;
  return plan;
}
Plan by_cpu() { return plan_of(Schedule::pipelined, Route::cpu); }
Plan by_device() { return plan_of(Schedule::sequential, Route::device); }

/// A cache whose room on the device is this share of all rows.
profiles::Profile with_room(profiles::Profile profile, Plan plan, double share) {
  plan.cache.policy = CachePolicy::none;
  const auto memory = costs_of_plan(profile, plan).memory.device;
  profile.machine.device.memory_bytes =
      memory.total() + cache_reserve_bytes(memory) + share * features_bytes(profile.workload);
  return profile;
}

TEST(Costs, WholeStagesAsMeasured) {
  const auto costs = costs_of_plan(gpu_profile(), plan_of(Schedule::claim_ahead, Route::both)).costs;
  EXPECT_DOUBLE_EQ(costs.cpu_batch_s, 10);
  EXPECT_DOUBLE_EQ(costs.transfer_s, 4.4);
  EXPECT_DOUBLE_EQ(costs.device_batch_s, 8);
  EXPECT_DOUBLE_EQ(costs.device_batch_link_s, 5);
  EXPECT_DOUBLE_EQ(costs.train_s, 6);
  EXPECT_DOUBLE_EQ(costs.device_gather_s, 0);
  EXPECT_DOUBLE_EQ(costs.cpu_batch_disk_s, 0);
  EXPECT_DOUBLE_EQ(costs.all_reduce_s, 0);
}

// 10 * 1.5, 4.4 * 0.5, (8, of which 5 over the link) * 2; training was not measured.
TEST(Costs, RealRunsCorrectThem) {
  auto profile = gpu_profile();
  profile.corrections.emplace();
  profile.corrections->cpu_batch = profiles::Correction{.ratio = 1.5, .batches = 2};
  profile.corrections->transfer = profiles::Correction{.ratio = 0.5, .batches = 2};
  profile.corrections->device_batch = profiles::Correction{.ratio = 2, .batches = 2};
  const auto costs = costs_of_plan(profile, plan_of(Schedule::claim_ahead, Route::both)).costs;
  EXPECT_NEAR(costs.cpu_batch_s, 15, near_s);
  EXPECT_NEAR(costs.transfer_s, 2.2, near_s);
  EXPECT_NEAR(costs.device_batch_s, 16, near_s);
  EXPECT_NEAR(costs.device_batch_link_s, 10, near_s);
  EXPECT_NEAR(costs.train_s, 6, near_s);
}

// Corrections that earlier runs taught apply to plans of their regime, before those of the job's own runs.
TEST(Costs, EarlierRunsCorrectTheirRegime) {
  auto profile = gpu_profile();
  const auto both = plan_of(Schedule::claim_ahead, Route::both);
  profile.learned.emplace().regimes = {{plan::regime_of(both, profiles::cores_of(profile)),
                                        {.cpu_batch = profiles::Correction{.ratio = 1.5, .batches = 2},
                                         .train = profiles::Correction{.ratio = 2, .batches = 2}}}};
  EXPECT_NEAR(costs_of_plan(profile, both).costs.cpu_batch_s, 15, near_s);
  EXPECT_NEAR(costs_of_plan(profile, both).costs.train_s, 12, near_s);
  EXPECT_NEAR(costs_of_plan(profile, both).costs.transfer_s, 4.4, near_s);
  EXPECT_NEAR(costs_of_plan(profile, by_cpu()).costs.cpu_batch_s, 10, near_s);
  profile.corrections.emplace().train = profiles::Correction{.ratio = 0.5, .batches = 2};
  EXPECT_NEAR(costs_of_plan(profile, both).costs.train_s, 6, near_s);
}

TEST(Costs, WorkersInEachOthersWay) {
  // Three workers at 0.8 of one's pace each: 10 / 0.8.
  auto profile = gpu_profile();
  profile.workload.worker_efficiency = {{1, 1}, {3, 0.8}};
  Plan plan = by_cpu();
  plan.workers = 3;
  EXPECT_DOUBLE_EQ(costs_of_plan(profile, plan).costs.cpu_batch_s, 12.5);
}

TEST(Costs, TheTrainerGathers) {
  // The CPU samples, 4; 400 of 4,400 bytes are copied, 0.4; the device gathers, 8 - 3, of which 5 - 2 over
  // the link.
  Plan plan = by_cpu();
  plan.gather = Gather::trainer;
  const auto costs = costs_of_plan(gpu_profile(), plan).costs;
  EXPECT_DOUBLE_EQ(costs.cpu_batch_s, 4);
  EXPECT_DOUBLE_EQ(costs.transfer_s, 0.4);
  EXPECT_DOUBLE_EQ(costs.device_gather_s, 5);
  EXPECT_DOUBLE_EQ(costs.device_gather_link_s, 3);
}

TEST(Costs, UnknownPartsAreInProportionToBytes) {
  // 400 of 4,400 bytes are structure: sampling is 10 / 11 on the CPU, 8 / 11 on the device.
  auto profile = gpu_profile();
  profile.workload.parts = {};
  Plan plan = by_cpu();
  plan.gather = Gather::trainer;
  const auto costs = costs_of_plan(profile, plan).costs;
  EXPECT_NEAR(costs.cpu_batch_s, 10.0 / 11, near_s);
  EXPECT_NEAR(costs.device_gather_s, 8 - 8.0 / 11, near_s);
  EXPECT_NEAR(costs.device_gather_link_s, 5 - 5.0 / 11, near_s);
}

TEST(Costs, ACacheOnTheDeviceAnswersRows) {
  // Half of the rows, any of them: half of 3 s on the link and of 4,000 bytes. The device reads 2,000 bytes
  // from its own memory in 2 s: 8 - 1.5 + 2, of which 5 - 1.5 on the link.
  Plan plan = by_device();
  plan.cache.policy = CachePolicy::random;
  const auto costs = costs_of_plan(with_room(gpu_profile(), plan, 0.5), plan).costs;
  EXPECT_NEAR(costs.device_batch_s, 8.5, near_s);
  EXPECT_NEAR(costs.device_batch_link_s, 3.5, near_s);
}

TEST(Costs, WorkersLeaveOutTheRowsOfACacheThatTheyKnow) {
  Plan plan = by_cpu();
  plan.cache.policy = CachePolicy::random;
  const auto unknown = costs_of_plan(with_room(gpu_profile(), plan, 0.5), plan).costs;
  EXPECT_NEAR(unknown.cpu_batch_s, 10, near_s);
  EXPECT_NEAR(unknown.transfer_s, 4.4, near_s);
  // Odds of 1 : 1 become 2 : 1, so that a third of the rows is gathered, 4 + 6 / 3, and copied with 12 bytes
  // for each of 40 rows, cached or not.
  plan.exact = false;
  plan.cache.budget = 0.5;
  plan.bias = 2;
  const auto known = costs_of_plan(with_room(gpu_profile(), plan, 0.5), plan).costs;
  EXPECT_NEAR(known.cpu_batch_s, 6, near_s);
  EXPECT_NEAR(known.transfer_s, (400 + 4000.0 / 3 + 480) / 1000, near_s);
}

TEST(Costs, SamplingAndGatheringGainByThreadsAsTheyWereMeasured) {
  auto profile = gpu_profile();
  profile.workload.cpu_batch_speedup = {{1, 1}, {2, 1.6}};
  Plan plan = by_cpu();
  plan.worker_threads = 2;
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.cpu_batch_s, 10 / 1.6, near_s);
  plan.gather = Gather::trainer;
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.cpu_batch_s, 4 / 1.6, near_s) << "as the whole";
  // Of 6.25 s together, 3.2 s are sampling.
  profile.workload.cpu_sample_speedup = {{1, 1}, {2, 1.25}};
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.cpu_batch_s, 3.2, near_s);
  plan.gather = Gather::sampler;
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.cpu_batch_s, 10 / 1.6, near_s)
      << "as the whole was measured";
  // Sampling would leave 0.25 s for what takes two threads 3 s at best.
  profile.workload.cpu_sample_speedup = {{1, 1}, {2, 4.0 / 6}};
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.cpu_batch_s, 6 + 3, near_s);
}

TEST(Costs, BiasDrawsCachedNeighboursMoreOften) {
  // Odds of 1 : 1 become 3 : 1, so that a quarter of the rows is read over the link: 5 - 3 * 3 / 4.
  Plan plan = by_device();
  plan.exact = false;
  plan.cache.policy = CachePolicy::random;
  plan.cache.budget = 0.5;
  plan.bias = 3;
  EXPECT_NEAR(costs_of_plan(with_room(gpu_profile(), plan, 0.5), plan).costs.device_batch_link_s, 2.75,
              near_s);
}

TEST(Costs, BiasedDrawsTakeAsLongAsWasMeasured) {
  // Sampling takes 4 s of 10 on the CPU; on the device 3 s, 2 of them over the link, of 8 and 5.
  auto profile = gpu_profile();
  profile.workload.parts.biased_sample_ratio = 1.5;
  auto plan = by_cpu();
  plan.bias = 2;
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.cpu_batch_s, 12, near_s);
  plan = by_device();
  plan.bias = 2;
  const auto costs = costs_of_plan(profile, plan).costs;
  EXPECT_NEAR(costs.device_batch_s, 9.5, near_s);
  EXPECT_NEAR(costs.device_batch_link_s, 6, near_s);
  profile.workload.job.weighted = true;  // was measured by weight
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.device_batch_s, 8, near_s);
}

TEST(Costs, LinkedDevicesHoldAPartOfTheCacheEach) {
  // Two devices hold half of the rows each: none is read from the host. Half of 4,000 bytes come from the
  // other device at 500 a second, 4 s, and all go through the device's memory, 4 s: 8 - 3 + 4 + 4.
  Plan plan = by_device();
  plan.devices = 2;
  plan.cache.policy = CachePolicy::random;
  plan.cache.sharded = true;
  auto profile = gpu_profile();
  profile.machine.peers = {.bandwidth_bytes_per_s = 500, .clique = 2};
  const auto costs = costs_of_plan(with_room(profile, plan, 0.5), plan).costs;
  EXPECT_NEAR(costs.device_batch_s, 13, near_s);
  EXPECT_NEAR(costs.device_batch_link_s, 2, near_s);
  EXPECT_NEAR(costs.device_batch_peer_s, 4, near_s);
}

TEST(Costs, ListsOfLinkedDevicesAreReadWithoutHeaders) {
  // All lists are cached. What took the host's link 2 s at 500 bytes a second were sectors of 32 bytes with
  // headers of 16; half of the sectors come from the other device at 500 a second: 2 / 2 * 32 / 48.
  Plan plan = by_device();
  plan.devices = 2;
  plan.cache.policy = CachePolicy::random;
  plan.cache.features = false;
  plan.cache.topology = true;
  plan.cache.sharded = true;
  auto profile = gpu_profile();
  profile.machine.peers = {.bandwidth_bytes_per_s = 500, .clique = 2};
  const auto costs = costs_of_plan(with_room(profile, plan, 0.5), plan).costs;
  EXPECT_NEAR(costs.device_batch_link_s, 3, near_s);
  EXPECT_NEAR(costs.device_batch_peer_s, 2.0 / 3, near_s);
  EXPECT_NEAR(costs.device_batch_s, 6 + 2.0 / 3, near_s);
}

TEST(Costs, DataThatLivesOnTheDeviceIsNotReadOverTheLink) {
  Plan plan = by_device();
  plan.topology = Home::device;  // 8 - 2, of which 5 - 2
  EXPECT_DOUBLE_EQ(costs_of_plan(gpu_profile(), plan).costs.device_batch_s, 6);
  EXPECT_DOUBLE_EQ(costs_of_plan(gpu_profile(), plan).costs.device_batch_link_s, 3);
  plan.features = Home::device;  // 8 - 5
  EXPECT_DOUBLE_EQ(costs_of_plan(gpu_profile(), plan).costs.device_batch_s, 3);
  EXPECT_DOUBLE_EQ(costs_of_plan(gpu_profile(), plan).costs.device_batch_link_s, 0);
}

TEST(Costs, CopiesWithoutFeaturesTakeWhatWasMeasured) {
  auto plan = by_cpu();
  plan.gather = Gather::trainer;
  auto profile = gpu_profile();
  EXPECT_DOUBLE_EQ(costs_of_plan(profile, plan).costs.transfer_s, 0.4) << "by bytes: 400 of 4,400";
  profile.workload.parts.structure_transfer_ratio = 0.25;
  EXPECT_DOUBLE_EQ(costs_of_plan(profile, plan).costs.transfer_s, 1.1);
  EXPECT_DOUBLE_EQ(costs_of_plan(profile, by_cpu()).costs.transfer_s, 4.4);
}

TEST(Costs, AShareOfTheGpuPreparesBesideTraining) {
  // A fifth reads as fast as all, and nothing is known of its computing.
  Plan plan = plan_of(Schedule::pipelined, Route::device);
  auto profile = gpu_profile();
  profile.machine.device.link_saturation_share = 0.1;
  plan.prepare_share = 0.2;
  EXPECT_DOUBLE_EQ(costs_of_plan(profile, plan).costs.device_batch_s, 8);
  EXPECT_DOUBLE_EQ(costs_of_plan(profile, plan).costs.device_batch_link_s, 5);
  // A twentieth cannot keep the link busy: 5 * 2 + 3.
  plan.prepare_share = 0.05;
  EXPECT_DOUBLE_EQ(costs_of_plan(profile, plan).costs.device_batch_s, 13);
  EXPECT_DOUBLE_EQ(costs_of_plan(profile, plan).costs.device_batch_link_s, 10);
  // Twice as long on a half: all of it needs all slots.
  profile.workload.parts.prepare_share_ratio = 2;
  EXPECT_DOUBLE_EQ(costs_of_plan(profile, plan).costs.device_batch_s, 8 / 0.05);
  plan.prepare_share = profiles::measured_prepare_share;
  EXPECT_DOUBLE_EQ(costs_of_plan(profile, plan).costs.device_batch_s, 16);
  EXPECT_DOUBLE_EQ(costs_of_plan(profile, plan).costs.device_batch_link_s, 5);
}

TEST(Costs, WorkersReadTheDisk) {
  // 40 rows of two blocks of 64 bytes, and the adjacency lists of 1 + 3 of 1 + 2 + 8 vertices of each seed's
  // tree: 80 + 40 * 4 / 11 reads, 240 a second.
  auto profile = gpu_profile();
  profile.machine.disk = {.random_reads_per_s = 240, .block_bytes = 64, .queue_depth = 4};
  profile.workload.vertices = 1'000'000'000;  // so that no two are near each other
  profile.workload.edges = 4 * profile.workload.vertices;
  Plan plan = by_cpu();
  plan.topology = plan.features = Home::disk;
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.cpu_batch_disk_s, (80 + 160.0 / 11) / 240, 1e-4);
  profile.workload.hops = {{.destinations = 5, .edges = 10}, {.destinations = 15, .edges = 60}};
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.cpu_batch_disk_s, (80 + 20) / 240.0, 1e-4);
  // Measured: 30 reads of 50 blocks.
  profile.workload.list_blocks = {.block_bytes = 64, .blocks = 50, .reads = 30, .accesses = {}};
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.cpu_batch_disk_s, (80 + 30) / 240.0, 1e-4);
  profile.machine.disk.random_reads_per_s.reset();
  EXPECT_THROW(costs_of_plan(profile, plan), base::InputError);
}

TEST(Costs, NothingIsReadWhileMiniBatchesAreSampledAhead) {
  auto profile = gpu_profile();
  profile.machine.disk = {.random_reads_per_s = 240, .block_bytes = 64, .queue_depth = 4};
  Plan plan = by_cpu();
  plan.features = Home::disk;
  plan.workers = 2;
  plan.cache = {.policy = plan::CachePolicy::optimal, .features = true, .place = Home::host};
  const auto disk_s = [&] { return costs_of_plan(profile, plan).costs.cpu_batch_disk_s; };
  profile.workload.parts.cpu_sample_s = 2;
  const double of_two = disk_s();
  profile.workload.parts.cpu_sample_s = 4;
  EXPECT_NEAR(disk_s() - of_two, (4 - 2) / 2.0, near_s) << "two workers share the sampling";
  profile.workload.parts.cache_choices_s = 0.5;
  EXPECT_NEAR(disk_s() - of_two, 1 + 0.5, near_s) << "one thread decides";
}

TEST(Costs, MacroBatchesReadWholeParts) {
  // A quarter of 8 * (1,000 + 1) + 4 * 4,000 + 100,000 bytes, at 1,000 a second.
  auto profile = gpu_profile();
  profile.machine.disk.bandwidth_bytes_per_s = 1000;
  Plan plan = plan_of(Schedule::macro_batch, Route::cpu);
  plan.topology = plan.features = Home::disk;
  plan.macro.partitions = 8;
  plan.macro.resident = 2;
  const auto costs = costs_of_plan(profile, plan).costs;
  EXPECT_NEAR(costs.group_read_s, 124008.0 / 4000, near_s);
  EXPECT_DOUBLE_EQ(costs.cpu_batch_disk_s, 0);
}

TEST(Costs, TheHostSamplesManyBatchesTogether) {
  // A quarter of 20 batches: 5 * 40 visits touch v = 1,000 * (1 - exp(-0.2)) vertices. The CPU gathers each
  // once, v * 6 / 40, and samples, 5 * 4. Copied are 100 bytes a vertex and 4 a sampled edge, 5 * 100, at 500
  // a second; nothing else is read over the link: 8 - 5.
  Plan plan = plan_of(Schedule::macro_batch, Route::device);
  plan.macro.partitions = 4;
  plan.macro.resident = 1;
  plan.workers = 1;
  const auto costs = costs_of_plan(gpu_profile(), plan).costs;
  const double vertices = 1000 * (1 - std::exp(-0.2));
  EXPECT_NEAR(costs.group_prepare_s, vertices * 6 / 40 + 20, near_s);
  EXPECT_NEAR(costs.group_transfer_s, (100 * vertices + 4 * 500) / 500, near_s);
  EXPECT_NEAR(costs.device_batch_s, 3, near_s);
  EXPECT_NEAR(costs.device_batch_link_s, 0, near_s);
  // With twice the fanouts twice as much is sampled, and more is gathered and copied.
  plan.macro.fanout_factor = 2;
  const auto more = costs_of_plan(gpu_profile(), plan).costs;
  const double twice = 1000 * (1 - std::exp(-0.4));
  EXPECT_NEAR(more.group_prepare_s, twice * 6 / 40 + 40, near_s);
  EXPECT_NEAR(more.group_transfer_s, (100 * twice + 4 * 1000) / 500, near_s);
  EXPECT_NEAR(more.device_batch_s, 3, near_s);
}

TEST(Costs, ListsOfPartsWithAHaloAreTranslated) {
  Plan plan = plan_of(Schedule::macro_batch, Route::device);
  plan.exact = false;
  plan.embeddings.reuse = Reuse::halo;
  plan.macro.partitions = 8;
  plan.macro.resident = 2;
  plan.macro.sampled_ahead = true;
  plan.workers = 1;
  auto profile = gpu_profile();
  const double before_s = costs_of_plan(profile, plan).costs.group_prepare_s;
  // A quarter of 4,000 entries.
  profile.workload.parts.halo_entry_s = 0.02;
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.group_prepare_s - before_s, 20, near_s);
  // Macro-batches without parts have no such lists.
  plan.embeddings.reuse = Reuse::none;
  plan.macro.sampled_ahead = false;
  EXPECT_DOUBLE_EQ(costs_of_plan(profile, plan).costs.group_prepare_s,
                   costs_of_plan(gpu_profile(), plan).costs.group_prepare_s);
}

/// With 8 of 10 uses of the hotter half of the vertices.
profiles::Profile with_hot_uses(profiles::Profile profile) {
  profile.workload.parts.refresh_s = 3;
  profile.workload.features.curves = {{CachePolicy::presample, {{0.5, 0.8}}}};
  return profile;
}

Plan reusing_hot() {
  Plan plan = plan_of(Schedule::super_batch, Route::device);
  plan.exact = false;
  plan.embeddings = {.reuse = Reuse::hot, .hot_ratio = 0.5};
  plan.super_batch = 2;
  plan.workers = 1;
  return plan;
}

TEST(Costs, HotEmbeddingsAreComputedByTheCpu) {
  // Of fanouts 2 and 4 the bottom hop has 8 of 10 edges and 8 of 11 vertices; 8 of 10 visits are hot. The
  // device samples 1 - 0.8 * 0.8 = 0.36 of each batch, gathers g = 1 - 0.8 * 8 / 11, and trains 0.36 and the
  // backward half of the other 0.64.
  auto profile = with_hot_uses(gpu_profile());
  const Plan plan = reusing_hot();
  const auto costs = costs_of_plan(profile, plan).costs;
  const double gathered = 1 - 0.8 * 8 / 11;
  EXPECT_NEAR(costs.device_batch_s, 3 * 0.36 + 5 * gathered, near_s);
  EXPECT_NEAR(costs.device_batch_link_s, 2 * 0.36 + 3 * gathered, near_s);
  EXPECT_NEAR(costs.train_s, 6 * (0.36 + 0.32), near_s);
  // Two batches use u = 2 * 0.8 * 40 * 3 / 11 hot vertices above the bottom hop, c = 500 * (1 - exp(-u /
  // 500)) different ones: 2 * 0.8 * 3 * c / u seconds on a core. An embedding of 10 * 4 bytes, the
  // vertex's own row of 100 and the mean of its neighbours travel for each at 500 a second.
  const double uses = 2 * 0.8 * 40 * 3 / 11;
  const double computed = 500 * (1 - std::exp(-uses / 500));
  EXPECT_NEAR(costs.group_prepare_s, 4.8 * computed / uses, near_s);
  EXPECT_NEAR(costs.group_transfer_s, computed * 240 / 500, near_s);
}

TEST(Costs, HotEmbeddingsTakeWhatWasMeasured) {
  // The plan samples 0.36 of the edges (as above). With 0.68 of them training took 1.25 as long, so that 0.36
  // are twice as far from all of them; preparation took 1.5.
  auto profile = with_hot_uses(gpu_profile());
  const Plan plan = reusing_hot();
  const auto before = costs_of_plan(profile, plan).costs;
  profile.workload.hot_batch = profiles::HotBatch{.edges = 0.68, .device_batch = 1.5, .train = 1.25};
  profile.workload.parts.find_hot_s = 0.7;
  const auto costs = costs_of_plan(profile, plan).costs;
  EXPECT_NEAR(costs.train_s, 6 * 1.5, near_s);
  EXPECT_NEAR(costs.device_batch_s, 8 * 2, near_s);
  EXPECT_NEAR(costs.group_prepare_s - before.group_prepare_s, 2 * 0.7, near_s) << "of each mini-batch";
}

TEST(Costs, HotEmbeddingsSaveWhatWasCounted) {
  // Ten destinations with 90 edges touch 40 vertices, as they would of a pool of V = 40 / (1 - exp(-100 /
  // V)). Without half of the destinations and two thirds of the edges 35 are left to touch it.
  auto profile = gpu_profile();
  auto& workload = profile.workload;
  workload.hops = {{2, 10}, {10, 90}};
  workload.hot = profiles::HotCurves{{{0.5, 0.5}}, {{0.5, 2.0 / 3}}};
  Plan plan = plan_of(Schedule::super_batch, Route::device);
  plan.exact = false;
  plan.embeddings = {.reuse = Reuse::hot, .hot_ratio = 0.5};
  plan.super_batch = 2;
  plan.workers = 1;
  const auto use = hot_use_of(workload, plan);
  double pool = 40;
  for (int i = 0; i < 1000; ++i) {
    pool = 40 / (1 - std::exp(-100 / pool));
  }
  EXPECT_NEAR(use.vertices, 1 - pool * (1 - std::exp(-35 / pool)) / 40, near_s);
  EXPECT_NEAR(use.destinations, 0.5, near_s);
  EXPECT_NEAR(use.edges, 2.0 / 3, near_s);
  EXPECT_NEAR(use.uses, plan.super_batch * 0.5 * 10, near_s);
  EXPECT_NEAR(bottom_of(workload).edge_share, 0.9, near_s);
  const auto prediction = predict_quickly(profile, plan);
  EXPECT_NEAR(prediction.edges_not_aggregated.value(), 20 * 60, near_s);
  EXPECT_NEAR(prediction.bytes_not_gathered.value(), 20 * use.vertices * 40 * 100, near_s);
  EXPECT_FALSE(predict_quickly(profile, by_device()).vertices_not_sampled);
}

TEST(Costs, HistoricalEmbeddingsStopAfterOneHop) {
  // 10 seeds have 2 neighbours each: 20 of 100 edges, and h = 1000 * (1 - exp(-20 / 1000)) different
  // vertices, of which 1 in 100 is a seed. Both layers aggregate along these edges: 6 * 0.4. Embeddings of 40
  // bytes come for h vertices, and go for 10, gathered at 6 s for 4,000 bytes and copied at 500 a second.
  auto profile = gpu_profile();
  profile.workload.job.batch_size = 10;
  Plan plan = by_cpu();
  plan.exact = false;
  plan.embeddings.reuse = Reuse::all;
  const double halo = 1000 * (1 - std::exp(-0.02)) * 0.99;
  auto costs = costs_of_plan(profile, plan).costs;
  EXPECT_NEAR(costs.cpu_batch_s, 4 * 0.2 + 6 * (10 + halo) / 40, near_s);
  EXPECT_NEAR(costs.transfer_s, 4.4 * (400 * 0.2 + 4000 * (10 + halo) / 40) / 4400, near_s);
  EXPECT_NEAR(costs.train_s, 6 * 0.4 + 40 * (10 + halo) * (6.0 / 4000 + 1.0 / 500), near_s);
  // On the host nothing is copied.
  profile.machine.device.kind = profiles::DeviceKind::host;
  costs = costs_of_plan(profile, plan).costs;
  EXPECT_NEAR(costs.train_s, 6 * 0.4 + 40 * (10 + halo) * 6.0 / 4000, near_s);
}

TEST(Costs, HistoricalEmbeddingsTakeAllVerticesAsSeeds) {
  auto workload = gpu_profile().workload;  // 1,000 vertices
  workload.job.batch_size = 30;
  workload.train_vertices = 95;
  workload.batches = 4;
  Plan plan = by_cpu();
  EXPECT_EQ(batches_of(workload, plan), 4);
  plan.embeddings.reuse = Reuse::all;
  EXPECT_EQ(batches_of(workload, plan), 34);
  workload.batches = 2;  // of a shortened epoch
  EXPECT_EQ(batches_of(workload, plan), 17);
}

TEST(Costs, MacroBatchesFromTheDiskHaveSmallerMiniBatches) {
  auto profile = gpu_profile();
  profile.machine.disk.bandwidth_bytes_per_s = 1000;
  auto& workload = profile.workload;
  Plan plan = plan_of(Schedule::macro_batch, Route::cpu);
  plan.topology = plan.features = Home::disk;
  plan.macro.partitions = 8;
  plan.macro.resident = 2;
  const auto whole = costs_of_plan(profile, plan).costs;
  workload.resident_batches = {{.resident = 0.25, .neighbours = 0.25, .edges = 0.5, .vertices = 0.3}};
  workload.thin_batches = {{.edges = 0.5, .vertices = 0.3, .cpu_batch = 0.6, .train = 0.8}};
  const auto costs = costs_of_plan(profile, plan).costs;
  EXPECT_NEAR(costs.cpu_batch_s, 0.6 * whole.cpu_batch_s, near_s);
  EXPECT_NEAR(costs.train_s, 0.8 * whole.train_s, near_s);
  // Half of 400 bytes of edges and 0.3 of 4,000 bytes of features.
  EXPECT_NEAR(costs.transfer_s, whole.transfer_s * (200 + 1200) / 4400, near_s);
  plan.features = Home::host;  // from memory, macro-batches are sampled from the whole graph
  plan.topology = Home::host;
  plan.route = Route::device;
  plan.workers = 1;
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.train_s, whole.train_s, near_s);
}

TEST(Costs, SampledMacroBatchesMakeListsOfTheirEdges) {
  auto profile = gpu_profile();
  Plan plan = plan_of(Schedule::macro_batch, Route::device);
  plan.macro.partitions = 4;
  plan.macro.resident = 1;
  plan.workers = 1;
  const auto before = costs_of_plan(profile, plan).costs;
  // Five of twenty mini-batches have 100 edges each.
  profile.workload.parts.macro_edge_s = 0.01;
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.group_prepare_s - before.group_prepare_s, 5, near_s);
}

TEST(Costs, ReuseOfAllTakesWhatWasMeasured) {
  auto profile = gpu_profile();
  Plan plan = by_cpu();
  plan.exact = false;
  plan.embeddings.reuse = Reuse::all;
  profile.workload.parts.one_hop_batch_ratio = 0.3;
  profile.workload.parts.one_hop_train_ratio = 0.7;
  const auto costs = costs_of_plan(profile, plan).costs;
  EXPECT_NEAR(costs.cpu_batch_s, 0.3 * 10, near_s);
  EXPECT_NEAR(costs.train_s, 0.7 * 6, near_s) << "with pulls and pushes";
}

TEST(Costs, TrainingIsFasterWithoutWaitingForTheLink) {
  auto profile = gpu_profile();
  profile.workload.parts.resident_train_ratio = 0.8;
  Plan plan = by_device();
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.train_s, 6, near_s);
  plan.topology = Home::device;  // 3 of 5 seconds over the link are left
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.train_s, 6 * (0.8 + 0.2 * 3 / 5), near_s);
  plan.features = Home::device;
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.train_s, 6 * 0.8, near_s);
  EXPECT_NEAR(costs_of_plan(profile, by_cpu()).costs.train_s, 6, near_s) << "after copies, not preparation";
}

TEST(Costs, MacroBatchesEndWithSmallMiniBatches) {
  // 95 seeds in 4 macro-batches of 23.75: three mini-batches each instead of ten of all.
  auto profile = gpu_profile();
  profile.machine.disk.bandwidth_bytes_per_s = 1000;
  profile.workload.job.batch_size = 10;
  profile.workload.train_vertices = 95;
  profile.workload.batches = 10;
  Plan plan = plan_of(Schedule::macro_batch, Route::cpu);
  plan.topology = plan.features = Home::disk;
  plan.macro.partitions = 8;
  plan.macro.resident = 2;
  EXPECT_EQ(batches_of(profile.workload, plan), 12);
  EXPECT_DOUBLE_EQ(costs_of_plan(profile, plan).costs.train_s, 6 * 10.0 / 12);
  EXPECT_DOUBLE_EQ(costs_of_plan(profile, plan).costs.cpu_batch_s, 10 * 10.0 / 12);
}

TEST(Costs, FusedKernelsPrepareBySamplingOnlyAndTrainAsMeasured) {
  auto profile = gpu_profile();
  profile.workload.parts.fused_train_ratio = 0.75;
  Plan plan = by_device();
  plan.fused = true;
  const auto gathering = costs_of_plan(profile, by_device()).costs;
  const auto costs = costs_of_plan(profile, plan).costs;
  EXPECT_DOUBLE_EQ(costs.train_s, 4.5);
  EXPECT_LT(costs.device_batch_s, gathering.device_batch_s);  // only samples
  EXPECT_EQ(costs.device_gather_s, 0);
  // Where it was not measured training takes as much longer as gathering took.
  profile.workload.parts.fused_train_ratio.reset();
  EXPECT_DOUBLE_EQ(costs_of_plan(profile, plan).costs.train_s,
                   gathering.train_s + gathering.device_batch_s - costs.device_batch_s);
}

TEST(Costs, RecordedStepsTrainAsMeasuredOrSaveTheirLaunches) {
  auto profile = gpu_profile();
  Plan plan = by_device();
  plan.graphs = true;
  const auto train_s = [&] { return costs_of_plan(profile, plan).costs.train_s; };
  EXPECT_DOUBLE_EQ(train_s(), 6) << "nothing is known";
  // Two layers take 6 + 2 * 9 launches, of which two are left.
  profile.machine.device.launch_s = 0.1;
  EXPECT_NEAR(train_s(), 6 - 22 * 0.1, near_s);
  // The largest mini-batch, to which all are padded, has a tenth more bytes.
  profile.workload.parts.max_batch_bytes = 4840;
  EXPECT_NEAR(train_s(), 1.1 * (6 - 22 * 0.1), near_s);
  profile.workload.parts.max_batch_bytes.reset();
  // 2,500 bytes of activations are written and read at 1,000 bytes a second.
  profile.workload.parts.activation_bytes = 2500;
  EXPECT_NEAR(train_s(), 5, near_s);
  profile.workload.parts.graphs_train_ratio = 0.25;
  EXPECT_DOUBLE_EQ(train_s(), 1.5);
  plan.graphs = false;
  EXPECT_DOUBLE_EQ(train_s(), 6);
}

TEST(Costs, RecordedStepsAreNothingOnTheHostsCores) {
  auto profile = gpu_profile();
  profile.machine.device.launch_s = 0.1;
  profile.machine.device.kind = profiles::DeviceKind::emulated;
  Plan plan = by_device();
  const auto without = costs_of_plan(profile, plan).costs.train_s;
  plan.graphs = true;
  EXPECT_DOUBLE_EQ(costs_of_plan(profile, plan).costs.train_s, without);
}

TEST(Costs, UnalignedRowsOfSeveralLinesTakeMoreOfTheLink) {
  // Rows of 100 bytes lie within a line and are read as aligned ones. Of rows of 160 bytes the part on the
  // link grows: of the 5 s that preparing reads over it, 2 s are sampling's.
  auto profile = gpu_profile();
  Plan plan = by_device();
  plan.unaligned_reads = true;
  EXPECT_DOUBLE_EQ(costs_of_plan(profile, plan).costs.device_batch_s, 8);
  profile.workload.feature_columns = 40;
  profile.workload.feature_row_bytes = 160;
  const double slowdown = unaligned_slowdown(160, profile.machine.link);
  EXPECT_GT(slowdown, 1.1);
  EXPECT_DOUBLE_EQ(costs_of_plan(profile, by_device()).costs.device_batch_s, 8);
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.device_batch_s, 8 + 3 * (slowdown - 1), near_s);
}

TEST(Costs, GradientsGoRoundTheRing) {
  // SAGE of two layers: 2 * (25 * 10 + 10 * 10) weights of 4 bytes are 2,800 bytes; of four devices each
  // sends 2 * 3 / 4 of them, over links of 700 bytes a second in 6 s …
  auto profile = gpu_profile();
  profile.machine.peers = {.bandwidth_bytes_per_s = 700, .clique = 4};
  Plan plan = by_device();
  plan.devices = 4;
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.all_reduce_s, 6, near_s);
  // … and where not all are linked, over the host's link, which two share: 4,200 / 250.
  profile.machine.peers.clique = 2;
  profile.machine.link.devices_per_switch = 2;
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.all_reduce_s, 16.8, near_s);
}

TEST(Costs, DevicesOnTheCoresUpdateOnce) {
  // Training takes 6, of which 0.5 update the weights: that is done once for all four, after three sums of
  // 0.1, on a core; the ring, 6, follows.
  auto profile = gpu_profile();
  profile.machine.device.kind = profiles::DeviceKind::emulated;
  profile.machine.peers = {.bandwidth_bytes_per_s = 700, .clique = 4};
  profile.workload.parts.update_s = 0.5;
  profile.workload.parts.average_s = 0.1;
  Plan plan = by_device();
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.train_s, 6, near_s);
  plan.devices = 4;
  const auto costs = costs_of_plan(profile, plan).costs;
  EXPECT_NEAR(costs.train_s, 5.5, near_s);
  EXPECT_NEAR(costs.all_reduce_cores_s, 0.8, near_s);
  EXPECT_NEAR(costs.all_reduce_s, 6.8, near_s);
  profile.machine.device.kind = profiles::DeviceKind::cuda;
  EXPECT_NEAR(costs_of_plan(profile, plan).costs.train_s, 6, near_s);
}

TEST(Samplers, KeepUpWithTheTrainers) {
  // Training 12 beside gathering 3, sampling 4: K = 3, ceil(8 / 4) = 2, and likewise where gathering is what
  // takes 12; a sampler as slow as that: ceil(8 / 2).
  StageCosts costs{.device_batch_s = 4, .train_s = 12, .device_gather_s = 3};
  EXPECT_EQ(best_samplers(costs, 8), 2);
  std::swap(costs.train_s, costs.device_gather_s);
  EXPECT_EQ(best_samplers(costs, 8), 2);
  costs.device_batch_s = 12;
  EXPECT_EQ(best_samplers(costs, 8), 4);
  costs.device_batch_s = 1e9;
  EXPECT_EQ(best_samplers(costs, 8), 7);  // one trains
  EXPECT_EQ(best_samplers(costs, 1), 0);
}

}  // namespace
}  // namespace gnomon::sim
