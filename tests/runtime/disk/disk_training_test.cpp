#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>

#include "base/error.h"
#include "base/usable.h"
#include "graph/epoch_order.h"
#include "graph/feature_form.h"
#include "graph/store/store.h"
#include "plan/host_cache.h"
#include "runtime/disk/disk_data.h"
#include "runtime/disk/host_memory.h"
#include "runtime/training/trainer.h"
#include "tests/fixtures/message_of.h"
#include "tests/random_seed.h"
#include "tests/runtime/disk/disk_directory.h"
#include "tests/runtime/test_runs.h"

namespace gnomon::runtime {
namespace {

using plan::CachePolicy;
using plan::Home;

/// Rows of 148 bytes, which lie across blocks.
constexpr std::int64_t columns = 37;

class FromDisk : public testing::Test {
 protected:
  FromDisk() {
    const auto generated = test::planted_graph(1500, columns);
    graph::write_store(generated, directory_ / "store");
    graph_ = graph::open_store(directory_ / "store");
  }

  TrainReport run(const plan::Plan& plan, std::uint64_t delay_seed = 0) {
    TrainOptions options{.job = small_job(plan::ModelKind::sage), .plan = plan};
    if (delay_seed != 0) {
      options.before_stage = random_delays(delay_seed);
    }
    return train(graph_, options);
  }

  DiskDirectory directory_;
  graph::Graph graph_;
};

plan::Plan disk_plan(CachePolicy policy, int workers) {
  auto plan = plan_of(plan::Schedule::pipelined, plan::Route::cpu, workers);
  plan.name = std::string(base::name_of(policy));
  plan.features = Home::disk;
  plan.cache = {.policy = policy, .place = Home::host};
  return plan;
}

/// Of a cache: so small that it holds some hundred rows, whatever memory is there.
void make_small(plan::Plan& plan) {
  plan.cache.budget = 5e4 / static_cast<double>(base::available_memory_bytes());
}

TEST_F(FromDisk, PlansEndWithTheBitsOfThoseInMemory) {
  const auto expected = run(sequential_plan());
  std::vector<plan::Plan> plans;
  for (const auto policy : {CachePolicy::none, CachePolicy::random, CachePolicy::out_degree,
                            CachePolicy::presample, CachePolicy::recent, CachePolicy::optimal}) {
    for (const int workers : {1, 3}) {
      plans.push_back(disk_plan(policy, workers));
      plans.back().super_batch = policy == CachePolicy::optimal ? 1 + 9 * (workers - 1) : 1;
    }
  }
  auto lists = disk_plan(CachePolicy::recent, 2);
  lists.topology = Home::disk;
  lists.cache.topology = true;
  plans.push_back(lists);
  lists.cache = {};
  plans.push_back(lists);
  lists.features = Home::host;
  plans.push_back(lists);
  std::uint64_t delays = 100;
  for (auto plan : plans) {
    make_small(plan);
    const auto report = run(plan, delays++);
    EXPECT_EQ(report.weights_hash, expected.weights_hash)
        << plan.name << ", " << plan.workers << " workers, topology " << base::name_of(plan.topology);
    EXPECT_GT(report.epochs.back().disk_reads.bytes, 0) << plan.name;
  }
}

TEST_F(FromDisk, PresetsEndWithTheBitsOfThoseInMemory) {
  const auto expected = run(sequential_plan());
  for (const char* name : {"ns-ext", "ginex"}) {
    auto plan = plan::resolve(plan::find_plan(name), {4, plan::DeviceKind::host}, name);
    plan.order = plan::Order::index;
    const auto report = run(plan);
    EXPECT_EQ(report.weights_hash, expected.weights_hash) << name;
    const auto& epochs = report.epochs;
    EXPECT_LT(10 * epochs.back().disk_reads.bytes, epochs.front().disk_reads.bytes) << name << ": all fits";
  }
}

TEST_F(FromDisk, TheOptimalCacheReadsLeast) {
  std::map<CachePolicy, std::int64_t> hits;
  for (const auto policy :
       {CachePolicy::random, CachePolicy::presample, CachePolicy::recent, CachePolicy::optimal}) {
    auto plan = disk_plan(policy, 1);
    plan.super_batch = policy == CachePolicy::optimal ? 29 : 1;
    const auto job = small_job(plan::ModelKind::sage);
    const auto placed = std::make_shared<const PlacedGraph>(
        place(graph_, kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0}));
    DiskData disk(graph_, job, plan);
    // 300 rows and what finds them; known accesses beside, for "optimal".
    disk.fill_caches(policy == CachePolicy::optimal ? 8 * (300 * (148 + 24) + 8 * 1500) / 7 + 8 * 30'000
                                                    : 300 * 165 + 4 * 1500,
                     placed);
    kernels::cpu::Sampler sampler(placed->topology, job.fanouts);
    std::vector<std::int64_t> order(29);
    std::iota(order.begin(), order.end(), 0);
    disk.begin_epoch(0, order);
    disk.take_reads();
    const auto seeds = graph::epoch_order(graph_.train, job.seed, 0);
    BatchData expected, data;
    for (const auto batch : order) {
      const kernels::BatchKey key{job.seed, 0, static_cast<std::uint64_t>(batch)};
      const auto of_batch = graph::batch_seeds(seeds, job.batch_size, batch);
      prepare_batch(graph_, sampler, key, of_batch, expected);
      sample_batch(graph_, sampler, key, of_batch, data);
      disk.gather(batch, 0, data);
      ASSERT_EQ(data.features.size(), expected.features.size());
      ASSERT_EQ(std::memcmp(data.features.data(), expected.features.data(), data.features.size()), 0);
    }
    hits[policy] = disk.take_cache_use().row_hits;
  }
  EXPECT_GT(hits[CachePolicy::optimal], hits[CachePolicy::recent]);
  EXPECT_GT(hits[CachePolicy::optimal], hits[CachePolicy::presample]);
  EXPECT_GT(hits[CachePolicy::presample], hits[CachePolicy::random]);
}

TEST_F(FromDisk, OneEpochGoesOnWithAnotherPlan) {
  const auto expected = run(sequential_plan());
  std::vector<plan::Plan> plans = {disk_plan(CachePolicy::optimal, 2), sequential_plan(),
                                   disk_plan(CachePolicy::recent, 1)};
  plans[0].super_batch = 7;
  plans.push_back(plans[2]);
  plans[3].topology = Home::disk;
  std::size_t next = 0;
  TrainOptions options{.job = small_job(plan::ModelKind::sage), .plan = plans[0]};
  options.next_stretch = [&](std::int64_t left) {
    return Stretch{plans[next++ % plans.size()], std::min<std::int64_t>(left, 9)};
  };
  EXPECT_EQ(train(graph_, options).weights_hash, expected.weights_hash);
}

TEST_F(FromDisk, AFileThatShrinksEndsTheRunWithOneLine) {
  auto plan = disk_plan(CachePolicy::none, 2);
  TrainOptions options{.job = small_job(plan::ModelKind::sage), .plan = plan, .evaluate_every = 0};
  options.before_stage = [&](schedule::Stage stage, std::int64_t batch) {
    if (stage == schedule::Stage::cpu_batch && batch == 5) {
      std::filesystem::resize_file(directory_ / "store" / "features.npy", 40'000);
    }
  };
  const auto message = test::message_of<base::Failure>(directory_ / "store", [&] { train(graph_, options); });
  EXPECT_TRUE(message.starts_with("features.npy: ends at byte 40000")) << message;
}

TEST_F(FromDisk, RefusesWhatItCannotRead) {
  const auto job = small_job(plan::ModelKind::sage);
  const auto plan = disk_plan(CachePolicy::none, 1);
  const auto refusal = [&](const graph::Graph& graph, const plan::Job& of_job, const plan::Plan& of_plan) {
    return test::message_of<base::InputError>({}, [&] { check_disk(graph, of_job, of_plan); });
  };
  EXPECT_EQ(refusal(graph_, job, plan), "no error");
  EXPECT_EQ(refusal(test::planted_graph(100, 4), job, plan),
            "plan none: reads a graph's store on the disk, and this graph lies in memory");
  EXPECT_NE(
      refusal(graph::with_features_in(graph_, graph::FeatureForm::sparse), job, plan).find("are sparse"),
      std::string::npos);
  auto lists = plan;
  lists.topology = Home::disk;
  auto weighted = job;
  weighted.weighted = true;
  EXPECT_EQ(refusal(graph_, weighted, lists),
            "plan none: topology: \"disk\" samples neighbours uniformly, but the job samples by weight; use "
            "\"host\"");
}

TEST_F(FromDisk, CountsItsMemoryBeforeItTakesIt) {
  TrainOptions options{.job = small_job(plan::ModelKind::sage), .plan = disk_plan(CachePolicy::recent, 2)};
  options.device.host_bytes = 1 << 20;
  const auto message = test::message_of<base::InputError>({}, [&] { train(graph_, options); });
  EXPECT_TRUE(message.starts_with("host memory: plan \"recent\" needs ")) << message;
  EXPECT_NE(message.find("; 1 MiB may be used; allow more"), std::string::npos) << message;
  options.plan = sequential_plan();
  EXPECT_THROW(train(graph_, options), base::InputError) << "keeps everything in memory";
}

TEST(HostMemory, IsDividedAsThePlanSays) {
  auto plan = disk_plan(CachePolicy::recent, 3);
  plan.cpu_buffer = 2;
  plan.device_buffer = 1;
  plan.cache.budget = 0.5;
  const BatchNeeds each{.slot = 400, .sampler = 40, .training = 80};
  // Seven slots, three samplers and readers; a quarter to spare.
  auto needs = needs_of(plan, each, 100, 10, 1000);
  EXPECT_EQ(needs.batches, 7 * 500);
  EXPECT_EQ(needs.samplers, 3 * 50);
  EXPECT_EQ(needs.readers, 3 * plan::disk_reader_bytes);
  EXPECT_EQ(needs.training, 100);
  EXPECT_EQ(needs.model, 30);
  EXPECT_EQ(needs.total(), 1000 + 3500 + 150 + 100 + 30 + needs.readers);
  EXPECT_EQ(cache_room(plan, needs, needs.total() + 700), 350);
  EXPECT_THROW(cache_room(plan, needs, needs.total() - 1), base::InputError);
  EXPECT_EQ(needs_of(plan, each, 4, 10, 1000).batches, 4 * 500) << "an epoch of four mini-batches";
  plan.topology = Home::disk;
  plan.cache.policy = CachePolicy::optimal;
  EXPECT_EQ(needs_of(plan, each, 100, 10, 0).readers, 6 * plan::disk_reader_bytes);
  EXPECT_EQ(needs_of(plan, each, 100, 10, 0).samplers, 6 * 50) << "those that look ahead, too";
}

TEST(HostMemory, TrainingCountsEachLayer) {
  // Layers from the features outwards: 6 destinations of 5 columns, then 2 of 8, with three outputs of 8
  // columns each; and 10 rows of features in fp32.
  plan::Job job;
  job.hidden = 8;
  kernels::MiniBatch batch;
  batch.vertices.resize(10);
  batch.blocks.resize(2);
  batch.blocks[0].num_destinations = 2;
  batch.blocks[1].num_destinations = 6;
  graph::Features features;
  features.columns = 5;
  EXPECT_EQ(training_bytes(job, batch, features), 4 * (6 * (5 + 24) + 2 * (8 + 24)));
  features.type = graph::FeatureType::fp16;
  EXPECT_EQ(training_bytes(job, batch, features), 4 * (6 * (5 + 24) + 2 * (8 + 24)) + 10 * 5 * 4);
}

}  // namespace
}  // namespace gnomon::runtime
