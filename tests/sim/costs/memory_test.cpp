#include "sim/costs/memory.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/generate/generate.h"
#include "kernels/cpu/sample/topology.h"
#include "kernels/cpu/sample/worker_memory.h"
#include "plan/host_cache.h"
#include "plan/plan.h"
#include "sim/costs/hops.h"
#include "sim/predict.h"
#include "tests/fixtures/profiles.h"

// Peaks of memory, by hand.

namespace gnomon::sim {
namespace {

using plan::CachePolicy;
using plan::Home;
using plan::Plan;
using plan::Reuse;
using plan::Route;
using plan::Schedule;

/// Adjacency lists have 101 row pointers of 8 bytes and 1,798 ids of 4, 8,000 bytes; rows 100 * 40 = 4,000.
profiles::Profile memory_profile(profiles::DeviceKind device) {
  auto profile = test::profile_of(device, 1, 10, {1, 1, 1, 1});
  profile.machine.device.context_bytes = 5;
  profile.machine.cpu.process_bytes = 7;
  auto& workload = profile.workload;
  workload.vertices = 100;
  workload.edges = 1798;
  workload.feature_columns = 10;
  workload.feature_row_bytes = 40;
  workload.job.hidden = 8;
  workload.job.fanouts = {3, 2};
  workload.job.model = plan::ModelKind::gcn;
  workload.batch_vertices = 20;
  workload.batch_bytes = 1000;
  workload.parts.activation_bytes = 600;
  return profile;
}
const profiles::Profile small_gpu = memory_profile(profiles::DeviceKind::cuda);

Plan pipelined_plan(int workers) {
  Plan plan;
  plan.name = "pipelined";
  plan.schedule = Schedule::pipelined;
  plan.workers = workers;
  plan.cpu_buffer = 3;
  plan.device_buffer = 2;
  return plan;
}

TEST(Memory, APipelineHoldsItsBuffers) {
  // Host: graph, rows, batches of 2 workers and of a buffer of 3. Device: 1 + 2 batches; a model of (10 * 8 +
  // 8 * 8) * 4 bytes, four times; activations; libraries.
  const auto memory = memory_of(small_gpu, pipelined_plan(2), {});
  EXPECT_DOUBLE_EQ(memory.host.total(), 8000 + 4000 + 5 * 1000);
  EXPECT_DOUBLE_EQ(memory.device.batches_bytes, 3000);
  EXPECT_DOUBLE_EQ(memory.device.model_bytes, 4 * 576);
  EXPECT_DOUBLE_EQ(memory.device.total(), 3000 + 4 * 576 + 600 + 5);
  EXPECT_EQ(memory.shortage, Shortage::none);
}

TEST(Memory, WorkerProcessesHaveContextsAndHandOverCopies) {
  Plan plan = pipelined_plan(2);
  plan.handover_copies = 1;  // 2 more batches, 2 processes
  const auto memory = memory_of(small_gpu, plan, {});
  EXPECT_DOUBLE_EQ(memory.host.total(), 12000 + 5 * 1000 + 2 * 1000 + 2 * 7);
}

TEST(Memory, CountsTheMatricesOfSkipConnections) {
  auto profile = small_gpu;
  const double without = memory_of(profile, pipelined_plan(2), {}).device.model_bytes;
  profile.workload.job.skip = true;  // (10 * 8 + 8 * 8) more weights of 4 bytes, four times
  EXPECT_DOUBLE_EQ(memory_of(profile, pipelined_plan(2), {}).device.model_bytes, without + 4 * 576);
}

TEST(Memory, CountsTheProcessAndSlotsOfTheLargestMiniBatch) {
  auto profile = small_gpu;
  profile.machine.cpu.runtime_bytes = 90;
  profile.workload.parts.max_batch_bytes = 1500;  // half as much again as the mean
  const auto memory = memory_of(profile, pipelined_plan(2), {});
  EXPECT_DOUBLE_EQ(memory.host.total(), 12000 + 5 * 1500 + 90);
  EXPECT_DOUBLE_EQ(memory.device.batches_bytes, 3 * 1500);
}

TEST(Memory, AHostDeviceSharesTheHosts) {
  // The graph lies there once; no libraries of a device.
  const auto memory = memory_of(memory_profile(profiles::DeviceKind::host), pipelined_plan(2), {});
  EXPECT_DOUBLE_EQ(memory.device.total(), 0);
  EXPECT_DOUBLE_EQ(memory.host.total(), 12000 + 5000 + 3000 + 600 + 4 * 576);
}

TEST(Memory, SamplersTakeWhatTheLargestBatchNeeds) {
  // Batches of 5 seeds with fanouts 3, 2 and degrees up to 30: at most 5 * 4 * 3 = 60 vertices.
  profiles::Profile profile = small_gpu;
  profile.workload.job.batch_size = 5;
  profile.workload.max_degree = 30;
  const auto each = static_cast<double>(kernels::cpu::max_sampler_bytes(60, profile.workload.job.fanouts));
  EXPECT_DOUBLE_EQ(memory_of(profile, pipelined_plan(2), {}).host.total(), 17000 + 2 * each);
  EXPECT_DOUBLE_EQ(memory_of(profile, pipelined_plan(2), {}).device.samplers_bytes, 0);
  Plan shared = pipelined_plan(2);
  shared.worker_threads = 3;
  const auto& fanouts = profile.workload.job.fanouts;
  const auto sizes = kernels::cpu::largest_batch(
      {profile.workload.vertices, profile.workload.edges, *profile.workload.max_degree}, 5, fanouts);
  EXPECT_DOUBLE_EQ(memory_of(profile, shared, {}).host.samplers_bytes,
                   2 * static_cast<double>(kernels::cpu::max_split_sampler_bytes(sizes, fanouts, 3)));
  // A device that is the host samples there too.
  Plan plan = pipelined_plan(2);
  plan.route = Route::both;
  plan.schedule = Schedule::claim_ahead;
  profile.machine.device.kind = profiles::DeviceKind::host;
  EXPECT_DOUBLE_EQ(memory_of(profile, plan, {}).host.samplers_bytes, 3 * each);
}

TEST(Memory, DataMovesWithItsHome) {
  Plan plan = pipelined_plan(1);
  plan.route = Route::device;
  plan.workers = 0;
  plan.topology = Home::device;
  const auto memory = memory_of(small_gpu, plan, {});
  EXPECT_DOUBLE_EQ(memory.host.total(), 4000);
  EXPECT_DOUBLE_EQ(memory.device.topology_bytes, 8000);
}

TEST(Memory, DrawsByWeightTakeAWeightAndAColumnAnEdge) {
  auto profile = small_gpu;
  profile.workload.job.weighted = true;  // and a count of positive weights of each vertex
  EXPECT_DOUBLE_EQ(topology_bytes(profile.workload), 8000 + 1798 * (4 + 8) + 100 * 4);
}

// The ids of at most 2^32 vertices have 4 bytes in memory, those of more 8; also in a store.
TEST(Memory, IdsAreAsWideAsTheRuntimes) {
  profiles::WorkloadProfile workload;
  workload.vertices = std::int64_t{1} << 32;
  workload.edges = 1000;
  EXPECT_EQ(topology_bytes(workload) - 8 * (std::pow(2.0, 32) + 1), 4 * 1000);
  EXPECT_EQ(stored_topology_bytes(workload) - 8 * (std::pow(2.0, 32) + 1), 4 * 1000);
  ++workload.vertices;
  EXPECT_EQ(topology_bytes(workload) - 8 * (std::pow(2.0, 32) + 2), 8 * 1000);
  EXPECT_EQ(stored_topology_bytes(workload) - 8 * (std::pow(2.0, 32) + 2), 8 * 1000);
}

TEST(Memory, OfTheTopologyIsWhatSamplersAllocate) {
  graph::PlantedPartition options;
  options.vertices = 500;
  options.average_degree = 12;
  const auto graph = graph::generate_in_memory(options);
  const auto topology = kernels::cpu::resident_copy(graph);
  profiles::WorkloadProfile workload;
  workload.vertices = graph.num_vertices();
  workload.edges = graph.num_edges();
  EXPECT_EQ(topology_bytes(workload),
            static_cast<double>(topology.indptr.size_bytes() + topology.narrow_indices.size_bytes() +
                                topology.indices.size_bytes()));
  EXPECT_EQ(topology_bytes(workload), static_cast<double>(kernels::cpu::resident_bytes(graph)));
}

TEST(Memory, EvaluationComesAfterTrainingsTensorsAreFreed) {
  auto profile = memory_profile(profiles::DeviceKind::host);
  const auto plan = pipelined_plan(2);
  const auto without = memory_of(profile, plan, {});
  EXPECT_FALSE(without.evaluation_bytes.has_value());
  EXPECT_DOUBLE_EQ(without.host_peak_bytes(), without.host.total());
  profile.workload.evaluation = {.time_s = {}, .host_bytes = 1000};
  const auto with = memory_of(profile, plan, {});
  EXPECT_DOUBLE_EQ(with.host.total(), without.host.total());
  EXPECT_DOUBLE_EQ(*with.evaluation_bytes, 1000 - 600);  // the activations
  profile.machine.cpu.memory_bytes = with.host_peak_bytes();
  EXPECT_EQ(memory_of(profile, plan, {}).shortage, Shortage::none);
  profile.machine.cpu.memory_bytes = with.host_peak_bytes() - 10;
  const auto short_of = memory_of(profile, plan, {});
  EXPECT_EQ(short_of.shortage, Shortage::host_memory);
  EXPECT_DOUBLE_EQ(short_of.missing_bytes, 10);
  profile.workload.evaluation->host_bytes = 500;  // fits into what training used
  EXPECT_DOUBLE_EQ(*memory_of(profile, plan, {}).evaluation_bytes, 0);
}

TEST(Memory, EvaluationOnADeviceTakesTheHostsMemory) {
  auto profile = small_gpu;
  profile.workload.evaluation = {.time_s = {}, .host_bytes = 1000};
  EXPECT_DOUBLE_EQ(*memory_of(profile, pipelined_plan(2), {}).evaluation_bytes, 1000);
}

TEST(Memory, MacroBatchesKeepTwoPartsAndTheHubs) {
  // 2 * 2 / 16 + 0.05 of the graph.
  Plan plan = pipelined_plan(1);
  plan.schedule = Schedule::macro_batch;
  plan.topology = plan.features = Home::disk;
  plan.macro = {.partitions = 16, .resident = 2, .hub_ratio = 0.05};
  const auto memory = memory_of(small_gpu, plan, {});
  EXPECT_DOUBLE_EQ(memory.host.topology_bytes, 0.3 * 8000);
  EXPECT_DOUBLE_EQ(memory.host.features_bytes, 0.3 * 4000);
}

TEST(Memory, KeptEmbeddingsTakeTheirRows) {
  // Hot: of each 8 columns of 4 bytes and a sum of rows of 40 (GCN), for all that a super-batch uses, at most
  // 20 of 100 vertices; on the host once, on the device twice. All: every vertex, one hidden layer.
  Plan plan = pipelined_plan(1);
  plan.exact = false;
  plan.embeddings = {.reuse = Reuse::hot, .hot_ratio = 0.2};
  const double rows = hot_use_of(small_gpu.workload, plan).computed;
  EXPECT_GT(rows, 0);
  EXPECT_LT(rows, 20);
  EXPECT_DOUBLE_EQ(memory_of(small_gpu, plan, {}).host.embeddings_bytes, rows * (32 + 40));
  EXPECT_DOUBLE_EQ(memory_of(small_gpu, plan, {}).device.embeddings_bytes, 2 * rows * (32 + 40));
  plan.super_batch = 4096;
  EXPECT_NEAR(memory_of(small_gpu, plan, {}).host.embeddings_bytes, 20 * (32 + 40), 1e-6);
  plan.embeddings.reuse = Reuse::all;
  EXPECT_DOUBLE_EQ(memory_of(small_gpu, plan, {}).host.embeddings_bytes, 3200 + 100 * 8) << "with their ages";
}

TEST(Memory, ACacheTakesItsShareOfTheRest) {
  // 5,909 bytes without the cache, a share of which stays free (plan::cache_reserve), but for the libraries'
  // 5; of 1,000 left it may have half: 500 of 4,000 bytes of rows.
  auto profile = small_gpu;
  profile.machine.device.memory_bytes = (1 + plan::cache_reserve) * (3000 + 4 * 576 + 600) + 5 + 1000;
  Plan plan = pipelined_plan(1);
  plan.cache.policy = CachePolicy::presample;
  plan.cache.budget = 0.5;
  const auto memory = memory_of(profile, plan, {.feature_bytes = 4000});
  EXPECT_NEAR(memory.cached.features, 0.125, 1e-12);
  EXPECT_NEAR(memory.device.cache_bytes, 500, 1e-9);
  EXPECT_EQ(memory.shortage, Shortage::none);
}

TEST(Memory, ACacheOfTheDiskTakesItsShareOfTheHost) {
  // 100 rows of 40 bytes, 17 more each to find one; half of what is left holds 20 of them.
  auto profile = small_gpu;
  Plan plan = pipelined_plan(1);
  plan.features = Home::disk;
  const double without = memory_of(profile, plan, {}).host.total();
  EXPECT_DOUBLE_EQ(memory_of(profile, plan, {}).host.features_bytes, 0);
  plan.cache = {.policy = CachePolicy::recent, .place = Home::host, .budget = 0.5};
  profile.machine.cpu.memory_bytes = without + 2 * 20 * (40 + 17);
  const auto memory = memory_of(profile, plan, {});
  EXPECT_DOUBLE_EQ(memory.cached.features, 0.2);
  EXPECT_DOUBLE_EQ(memory.host.cache_bytes, 20 * (40 + 17));
  EXPECT_EQ(memory.shortage, Shortage::none);
  profile.machine.cpu.memory_bytes = 1e9;
  EXPECT_DOUBLE_EQ(memory_of(profile, plan, {}).cached.features, 1);
  EXPECT_DOUBLE_EQ(memory_of(profile, plan, {}).host.cache_bytes, 4000);
}

TEST(Memory, ATopologyOnTheDiskLeavesItsRowPointers) {
  Plan plan = pipelined_plan(1);
  plan.topology = Home::disk;
  EXPECT_DOUBLE_EQ(memory_of(small_gpu, plan, {}).host.topology_bytes, 8 * 101);
  EXPECT_DOUBLE_EQ(memory_of(small_gpu, plan, {}).host.samplers_bytes -
                       memory_of(small_gpu, pipelined_plan(1), {}).host.samplers_bytes,
                   plan::disk_reader_bytes)
      << "of one worker";
}

Plan biased() {
  Plan plan = pipelined_plan(2);
  plan.exact = false;
  plan.bias = 3;
  plan.cache.policy = CachePolicy::random;  // hits as large a share as it holds
  plan.cache.budget = 0.25;
  return plan;
}

TEST(Memory, PreferredRowsAreHeldWhateverTheMemory) {
  // A quarter of the rows of 4,000 bytes, whose neighbours are three times as likely: half of all reads hit,
  // 3 * 0.25 / (3 * 0.25 + 0.75). Batches of 1,000 bytes have rows of 800, of which 400 are not gathered.
  auto memory = memory_of(small_gpu, biased(), {.feature_bytes = 4000});
  EXPECT_DOUBLE_EQ(memory.cached.features, 0.25);
  EXPECT_DOUBLE_EQ(memory.device.cache_bytes, 1000);
  EXPECT_DOUBLE_EQ(memory.host.batches_bytes, 5 * 600);
  EXPECT_DOUBLE_EQ(memory.host.topology_bytes, 8000 + 1798 * (4 + 8) + 100 * 4) << "with weights";
  EXPECT_EQ(memory.shortage, Shortage::none);
  auto profile = small_gpu;
  profile.machine.device.memory_bytes = memory.device.total() - 1;
  memory = memory_of(profile, biased(), {.feature_bytes = 4000});
  EXPECT_EQ(memory.shortage, Shortage::device_memory);
  EXPECT_DOUBLE_EQ(memory.missing_bytes, 1);
}

/// A3GNN's formulas, with a worker's context in the process of all: the sequential mode and mode 2 hold one
/// batch with features, mode 1 as many as wait for training.
TEST(Memory, WhoGathersDecidesHowManyBatchesHaveFeatures) {
  Plan plan = biased();
  const double rest = 4 * 576 + 600 + 5 + 1000;
  EXPECT_DOUBLE_EQ(memory_of(small_gpu, plan, {}).device.total(), rest + 3 * 1000);
  plan.gather = plan::Gather::trainer;
  EXPECT_DOUBLE_EQ(memory_of(small_gpu, plan, {}).device.total(), rest + 1000 + 2 * 200);
  EXPECT_DOUBLE_EQ(memory_of(small_gpu, plan, {}).host.batches_bytes, 5 * 200);
  plan.gather = plan::Gather::sampler;
  plan.schedule = Schedule::sequential;
  EXPECT_DOUBLE_EQ(memory_of(small_gpu, plan, {}).device.total(), rest + 1000);
}

TEST(Memory, ACacheThatFillsTheRestIsNoShortage) {
  auto profile = small_gpu;
  Plan plan = pipelined_plan(1);
  plan.cache.policy = CachePolicy::value_weight;
  plan.cache.topology = true;
  for (int room = 1; room < 12000; room += 7) {
    profile.machine.device.memory_bytes = 5909 + room;
    const CacheGains gains{.feature_bytes = 4000, .topology_bytes = 8000, .feature_s = 1, .topology_s = 1};
    EXPECT_EQ(memory_of(profile, plan, gains).shortage, Shortage::none) << room;
  }
}

TEST(Memory, SamplersHoldTheTopologyAndTrainersTheCache) {
  // A trainer: 1 + 1 batches, activations, the model, a share of these free, libraries, and the rest for
  // rows. A sampler needs 8,000 + 1,000 + 5.
  profiles::Profile profile = small_gpu;
  Plan plan;
  plan.name = "factored";
  plan.schedule = Schedule::factored;
  plan.route = Route::device;
  plan.gather = plan::Gather::trainer;
  plan.device_buffer = 1;
  plan.devices = 2;
  plan.samplers = 1;
  plan.topology = Home::device;
  plan.cache.policy = CachePolicy::optimal;
  const CacheGains gains{.feature_bytes = 4000, .topology_bytes = 0};
  const double working = 2 * 1000 + 600 + 4 * (10 * 8 + 8 * 8) * 4;
  profile.machine.device.memory_bytes = 9005;
  const auto memory = memory_of(profile, plan, gains);
  EXPECT_EQ(memory.shortage, Shortage::none);
  EXPECT_DOUBLE_EQ(memory.device.topology_bytes, 0);
  EXPECT_DOUBLE_EQ(memory.device.cache_bytes, 9005 - (1 + plan::cache_reserve) * working - 5);
  EXPECT_DOUBLE_EQ(memory.device.total(), working + 5 + memory.device.cache_bytes);
  profile.machine.device.memory_bytes = 9000;
  EXPECT_EQ(memory_of(profile, plan, gains).shortage, Shortage::device_memory);
  EXPECT_NEAR(memory_of(profile, plan, gains).missing_bytes, 5, 1e-9);
  // Where one device does both it holds both.
  plan.devices = 1;
  plan.samplers = 0;
  EXPECT_DOUBLE_EQ(memory_of(profile, plan, gains).device.topology_bytes, 8000);
}

TEST(Memory, APlanMayTakeLessOfADeviceThanThereIs) {
  auto profile = small_gpu;
  auto plan = pipelined_plan(1);
  const auto without = memory_of(profile, plan, {}).device;
  const double needed = without.total() + cache_reserve_bytes(without);
  plan.cache = {CachePolicy::optimal, true, false, Home::device, 1, false};
  const CacheGains gains{.feature_bytes = 4000, .topology_bytes = 0};
  profile.machine.device.memory_bytes = needed + 5000;
  EXPECT_DOUBLE_EQ(memory_of(profile, plan, gains).device.cache_bytes, 4000);
  plan.device_memory_bytes = static_cast<std::int64_t>(needed) + 80;
  EXPECT_NEAR(memory_of(profile, plan, gains).device.cache_bytes, 80, 1);
  plan.device_memory_bytes = static_cast<std::int64_t>(needed) + 9000;  // more than there is
  EXPECT_DOUBLE_EQ(memory_of(profile, plan, gains).device.cache_bytes, 4000);
  profile.machine.device.memory_bytes.reset();  // unknown
  plan.device_memory_bytes = static_cast<std::int64_t>(without.total()) - 9;
  const auto memory = memory_of(profile, plan, gains);
  EXPECT_EQ(memory.shortage, Shortage::device_memory);
  EXPECT_DOUBLE_EQ(memory.missing_bytes, 9);
}

TEST(Memory, ShortageIsAnOutcome) {
  auto profile = small_gpu;
  profile.machine.device.memory_bytes = 5909 - 9;
  const auto memory = memory_of(profile, pipelined_plan(1), {});
  EXPECT_EQ(memory.shortage, Shortage::device_memory);
  EXPECT_DOUBLE_EQ(memory.missing_bytes, 9);
  EXPECT_EQ(shortage_text(memory), "device memory: 9e-09 GB are missing");

  Simulator simulator;
  const auto prediction = predict(simulator, profile, pipelined_plan(1));
  EXPECT_EQ(prediction.memory.shortage, Shortage::device_memory);
  EXPECT_TRUE(std::isinf(prediction.epoch_s));
  EXPECT_EQ(prediction.bound_by, "memory");

  profile.machine.device.memory_bytes.reset();  // unknown: never short
  profile.machine.cpu.memory_bytes = 10000;
  EXPECT_EQ(memory_of(profile, pipelined_plan(1), {}).shortage, Shortage::host_memory);
}

}  // namespace
}  // namespace gnomon::sim
