#include "runtime/emulated/emulated_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/error.h"
#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "runtime/preparation/device_room.h"
#include "runtime/preparation/preparation.h"
#include "runtime/training/trainer.h"
#include "tests/runtime/device_contract.h"
#include "tests/runtime/emulated/emulated_options.h"
#include "tests/runtime/emulated/test_clock.h"
#include "tests/runtime/test_runs.h"

namespace gnomon::runtime {
namespace {

using plan::CachePolicy;
using plan::Home;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct EmulatedWorld {
  static std::string why_not() { return ""; }
  static std::unique_ptr<Device> open(std::shared_ptr<const PlacedGraph> graph, const plan::Job& job,
                                      const plan::Plan& plan) {
    return open_device(std::move(graph), job, plan, emulated_options());
  }
};

}  // namespace

INSTANTIATE_TYPED_TEST_SUITE_P(Emulated, DeviceContract, EmulatedWorld);

namespace emulated {
namespace {

std::shared_ptr<const PlacedGraph> placed_graph() {
  return std::make_shared<const PlacedGraph>(
      place(graph_of_tests(), kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0}));
}

plan::Plan plan_on(plan::DeviceKind kind, plan::Plan plan) {
  return plan::resolve(plan, {2, kind}, plan.name);
}

TrainReport run(const plan::Plan& plan, plan::ModelKind model, const DeviceOptions& device) {
  TrainOptions options{.job = small_job(model), .plan = plan};
  options.device = device;
  return train(graph_of_tests(), options);
}

std::string weights_of_host(plan::ModelKind model) {
  return run(plan_on(plan::DeviceKind::host, plan::find_plan("device")), model, {}).weights_hash;
}

bool reads_disk(const plan::Plan& plan) {
  return plan.topology == Home::disk || plan.features == Home::disk ||
         (plan.cache.is_used() && plan.cache.place != Home::device);
}

/// The weights of the host device after the same updates in the same order.
std::string weights_of_replay(const TrainReport& report) {
  TrainOptions options{.job = small_job(plan::ModelKind::sage),
                       .plan = plan_on(plan::DeviceKind::host, plan::find_plan("device"))};
  for (const auto& epoch : report.epochs) {
    options.replay.push_back(epoch.log.trained);
  }
  return train(graph_of_tests(), options).weights_hash;
}

void expect_host_weights(const TrainReport& report, const plan::Plan& plan, const std::string& in_order) {
  const auto expected = plan::trains_in_order(plan) ? in_order : weights_of_replay(report);
  EXPECT_EQ(report.weights_hash, expected) << plan.name;
}

/// Every exact preset that needs no disk, on the emulated device and on the host where that executes it.
TEST(EmulatedDeviceTest, EveryExactPresetWithoutADiskEndsWithTheHostsWeights) {
  const auto in_order = weights_of_host(plan::ModelKind::sage);
  std::vector<std::string> executed;
  for (const auto& preset : plan::presets()) {
    if (!preset.exact || reads_disk(preset)) {
      continue;
    }
    executed.push_back(preset.name);
    const auto plan = plan_on(plan::DeviceKind::emulated, preset);
    const auto report = run(plan, plan::ModelKind::sage, emulated_options());
    expect_host_weights(report, plan, in_order);
    if (reads_cache(plan)) {
      const auto& use = report.epochs.back().cache;
      EXPECT_GT(use.row_hits + use.list_hits, 0) << preset.name;
    }
    if (plan::why_not_executed(preset, plan::abilities_of(plan::DeviceKind::host)).empty()) {
      const auto on_host = plan_on(plan::DeviceKind::host, preset);
      expect_host_weights(run(on_host, plan::ModelKind::sage, {}), on_host, in_order);
    }
  }
  EXPECT_THAT(executed, ElementsAre("device", "dgl", "dgl-uva", "dsp", "ducati", "ducati-delta", "gnnlab",
                                    "gnomon", "morphgl", "ns-mem", "pagraph", "pyg", "pytorch-direct",
                                    "quiver", "salient", "sota", "t_sota"));
}

/// Its refreshed embeddings are those of the same updates on every device.
TEST(EmulatedDeviceTest, NeutronOrchEndsWithTheHostsWeights) {
  const auto preset = plan::find_plan("neutronorch");
  const auto host = run(plan_on(plan::DeviceKind::host, preset), plan::ModelKind::sage, {});
  for (const int threads : {1, 2}) {
    auto plan = plan_on(plan::DeviceKind::emulated, preset);
    plan.device_threads = threads;
    const auto report = run(plan, plan::ModelKind::sage, emulated_options());
    EXPECT_EQ(report.weights_hash, host.weights_hash) << threads << " threads";
    EXPECT_NE(report.weights_hash, weights_of_host(plan::ModelKind::sage)) << "it is approximate";
  }
}

TEST(EmulatedDeviceTest, PlansThatNoPresetIsEndWithTheHostsWeights) {
  for (const auto model : {plan::ModelKind::gcn, plan::ModelKind::sage, plan::ModelKind::gat}) {
    const auto expected = weights_of_host(model);
    auto plan = plan_on(plan::DeviceKind::emulated, plan::find_plan("pytorch-direct"));
    plan.device_threads = 2;
    plan.order = plan::Order::index;
    EXPECT_EQ(run(plan, model, emulated_options()).weights_hash, expected) << "beside training";
    plan.fused = true;
    EXPECT_EQ(run(plan, model, emulated_options()).weights_hash, expected) << "fused";
    plan.topology = plan.features = Home::device;
    EXPECT_EQ(run(plan, model, emulated_options()).weights_hash, expected) << "fused on the device";
    plan = plan_on(plan::DeviceKind::emulated, plan::find_plan("ducati"));
    plan.fused = true;
    EXPECT_EQ(run(plan, model, emulated_options()).weights_hash, expected) << "fused from a cache";
    EXPECT_EQ(run(factored_plan(), model, emulated_options()).weights_hash, expected) << "gather: trainer";
    for (const auto policy : {CachePolicy::random, CachePolicy::out_degree, CachePolicy::presample}) {
      auto cached = plan_on(plan::DeviceKind::emulated, plan::find_plan("dgl-uva"));
      cached.cache.policy = policy;
      cached.cache.topology = true;
      cached.cache.budget = 0.01;
      EXPECT_EQ(run(cached, model, emulated_options()).weights_hash, expected) << base::name_of(policy);
    }
  }
}

TEST(EmulatedDeviceTest, SaysWhatMemoryIsMissing) {
  auto plan = plan_on(plan::DeviceKind::emulated, plan::find_plan("dgl-uva"));
  plan.features = Home::device;
  EXPECT_THAT([&] { run(plan, plan::ModelKind::sage, emulated_options(100'000)); },
              ThrowsMessage<base::Failure>(
                  AllOf(HasSubstr("device memory: does not suffice for placing the graph:"),
                        HasSubstr("bytes are missing"), HasSubstr("lower the plan's features"))));
  plan.device_memory_bytes = 100'000;
  EXPECT_THAT([&] { run(plan, plan::ModelKind::sage, emulated_options()); },
              ThrowsMessage<base::Failure>(HasSubstr("does not suffice for placing the graph")));
  // What training allocates counts, too, and is free again afterwards.
  const auto job = small_job(plan::ModelKind::sage);
  const auto order = graph::epoch_order(graph_of_tests().train, job.seed, 0);
  const auto seeds = graph::batch_seeds(order, job.batch_size, 0);
  const kernels::BatchKey key{job.seed, 0, 0};
  plan = plan_on(plan::DeviceKind::emulated, plan::find_plan("dgl-uva"));
  const auto device = open_device(placed_graph(), job, plan, emulated_options(std::int64_t{16} << 20));
  const auto train_with = [&](std::int64_t floats) {
    device->train(device->prepare(key, seeds), [&](const nn::TensorBatch&) { (void)at::zeros({floats}); });
  };
  train_with(1 << 20);
  EXPECT_THAT([&] { train_with(4 << 20); },
              ThrowsMessage<base::Failure>(
                  AllOf(HasSubstr("does not suffice for training: 16777216 bytes were requested"),
                        HasSubstr("or the job's batch size"))));
  train_with(1 << 20);
}

TEST(EmulatedDeviceTest, RefusesOptionsWithoutNumbers) {
  auto options = emulated_options();
  EXPECT_EQ(why_no_device(options), "");
  options.max_bytes = 0;
  EXPECT_EQ(why_no_device(options), "an emulated device needs the size of its memory");
  options = emulated_options();
  options.link.bandwidth_bytes_per_s = 0;
  EXPECT_EQ(why_no_device(options), "an emulated device needs the bandwidth of its link");
  options = emulated_options();
  options.link.request_bytes = 48;
  EXPECT_EQ(why_no_device(options),
            "an emulated device reads in requests of at most 32, 64 or 128 bytes, not of 48");
  options = emulated_options();
  options.devices = 65;
  EXPECT_EQ(why_no_device(options), "1 to 64 devices can be emulated, not 65");
  options = {.devices = 2};
  EXPECT_EQ(why_no_device(options), "the runtime trains on one such device so far, not on 2");
}

/// A device in its own time, with what crosses its link.
class EmulatedLinkTest : public ::testing::Test {
 protected:
  EmulatedLinkTest() {
    options_.link = {.bandwidth_bytes_per_s = 1e9, .round_trip_s = 0, .outstanding_reads = 1e9};
    auto clock = std::make_unique<TestClock>();
    clock_ = clock.get();
    device_ = std::make_unique<EmulatedDevice>(job_, options_, base::Progress{}, std::move(clock));
    plan_ = plan_of(plan::Schedule::sequential, plan::Route::both, 1);
    kernels::cpu::Sampler sampler(placed_->topology, job_.fanouts);
    prepare_batch(graph_of_tests(), sampler, key_, seeds_, batch_);
  }
  LinkUse use_of(const auto& act) {
    const auto before = device_->link_use();
    act();
    const auto after = device_->link_use();
    return {after.copied_bytes - before.copied_bytes,
            {after.reads.requests - before.reads.requests, after.reads.bytes - before.reads.bytes}};
  }
  /// Reads of these vertices' rows.
  ZeroCopyReads row_reads(std::span<const graph::VertexId> vertices) const {
    const auto& features = placed_->graph.features;
    ZeroCopyReads reads;
    for (const auto vertex : vertices) {
      const auto begin = reinterpret_cast<std::uintptr_t>(features.data + vertex * features.row_bytes());
      const auto end = begin + static_cast<std::uintptr_t>(features.row_bytes());
      reads.requests += static_cast<std::int64_t>((end + 127) / 128 - begin / 128);
      reads.bytes += static_cast<std::int64_t>(32 * ((end + 31) / 32 - begin / 32));
    }
    return reads;
  }

  const plan::Job job_ = small_job(plan::ModelKind::sage);
  const std::shared_ptr<const PlacedGraph> placed_ = placed_graph();
  const kernels::BatchKey key_{job_.seed, 0, 0};
  const std::vector<graph::VertexId> order_ = graph::epoch_order(graph_of_tests().train, job_.seed, 0);
  const std::span<const graph::VertexId> seeds_ = graph::batch_seeds(order_, job_.batch_size, 0);
  DeviceOptions options_ = emulated_options();
  TestClock* clock_ = nullptr;
  std::unique_ptr<EmulatedDevice> device_;
  plan::Plan plan_;
  BatchData batch_;
};

TEST_F(EmulatedLinkTest, CopiesTakeTheirBytes) {
  device_->take_plan(plan_, placed_);
  const double begin_s = clock_->now_s();
  auto slot = device_->slots().take();
  copy_batch(batch_, *slot);
  DeviceBatch copied;
  const auto use = use_of([&] { copied = device_->copy(std::move(slot)); });
  EXPECT_EQ(use, (LinkUse{copied.size.bytes, {}}));
  EXPECT_NEAR(clock_->now_s() - begin_s, static_cast<double>(copied.size.bytes) / 1e9, 1e-9);
}

TEST_F(EmulatedLinkTest, TensorsThatItTakesCrossTheLinkIntoItsMemory) {
  options_.max_bytes = 1 << 20;
  device_ = std::make_unique<EmulatedDevice>(job_, options_, base::Progress{});
  device_->take_plan(plan_, placed_);
  const std::vector<at::Tensor> host{at::rand({100, 64}), at::arange(1000)};
  std::vector<at::Tensor> taken;
  const auto use = use_of([&] { taken = device_->take_tensors(host); });
  EXPECT_EQ(use, (LinkUse{100 * 64 * 4 + 8000, {}}));
  ASSERT_EQ(taken.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(at::equal(taken[i], host[i]));
    EXPECT_NE(taken[i].const_data_ptr(), host[i].const_data_ptr());
  }
  EXPECT_THROW(device_->take_tensors({at::zeros({1 << 18})}), base::Failure) << "beside those that it has";
}

TEST_F(EmulatedLinkTest, RowsAndListsAreReadOverTheLinkUnlessTheyAreOnTheDevice) {
  plan_.topology = Home::device;
  device_->take_plan(plan_, placed_);
  auto use = use_of([&] { (void)device_->prepare(key_, seeds_); });
  EXPECT_EQ(use.reads, row_reads(batch_.batch.vertices));
  plan_.features = Home::device;
  device_->take_plan(plan_, placed_);
  use = use_of([&] { (void)device_->prepare(key_, seeds_); });
  EXPECT_EQ(use.reads, ZeroCopyReads{});
  plan_.topology = Home::host;
  device_->take_plan(plan_, placed_);
  use = use_of([&] { (void)device_->prepare(key_, seeds_); });
  // At least the headers of the destinations' lists and of the degrees, at most one request for each of them
  // that may cross a line and one for each edge.
  std::int64_t headers = std::ssize(batch_.batch.vertices);
  for (const auto& block : batch_.batch.blocks) {
    headers += block.num_destinations;
  }
  EXPECT_GT(use.reads.requests, headers / 16);
  EXPECT_LE(use.reads.requests, 2 * headers + batch_.batch.num_edges());
  EXPECT_GE(use.reads.bytes, 32 * use.reads.requests);
  EXPECT_LE(use.reads.bytes, 128 * use.reads.requests);
}

TEST_F(EmulatedLinkTest, CachedRowsAreNotReadOverTheLink) {
  plan_.topology = Home::device;
  plan_.cache.policy = CachePolicy::presample;
  plan_.cache.budget = 1e-3;
  device_->take_plan(plan_, placed_);
  device_->train(device_->prepare(key_, seeds_), [](const nn::TensorBatch&) {});
  device_->fill_due_caches();
  (void)device_->take_cache_use();
  const auto use = use_of([&] { (void)device_->prepare(key_, seeds_); });
  const auto hits = device_->take_cache_use();
  EXPECT_GT(hits.row_hits, 0);
  EXPECT_LT(hits.row_hits, hits.rows);
  const auto all = row_reads(batch_.batch.vertices);
  const auto each = row_reads(std::span(batch_.batch.vertices).first(1));
  EXPECT_NEAR(static_cast<double>(use.reads.requests),
              static_cast<double>(all.requests - hits.row_hits * each.requests),
              static_cast<double>(hits.row_hits));
}

/// The first training step has seen one mini-batch only.
TEST_F(EmulatedLinkTest, CachesLeaveMemoryForTheMiniBatchesThatWait) {
  constexpr int waiting = 12;
  device_->take_plan(plan_, placed_);
  const auto batch_bytes = device_->prepare(key_, seeds_).size.bytes;
  options_.max_bytes = (waiting + 3) * batch_bytes;
  ASSERT_GT(graph_of_tests().features.bytes(), batch_bytes) << "a cache that would leave too little";
  device_ = std::make_unique<EmulatedDevice>(job_, options_, base::Progress{});
  plan_.topology = Home::host;
  plan_.schedule = plan::Schedule::pipelined;
  plan_.device_buffer = waiting;
  plan_.cache.policy = CachePolicy::out_degree;
  device_->take_plan(plan_, placed_);
  device_->train(device_->prepare(key_, seeds_), [](const nn::TensorBatch&) {});
  device_->fill_due_caches();
  std::vector<DeviceBatch> batches;
  for (int i = 0; i <= waiting; ++i) {
    batches.push_back(device_->prepare(key_, seeds_));
  }
}

/// Other work takes what the cache was to leave free.
TEST_F(EmulatedLinkTest, CachesGiveWayToMiniBatchesAndToTraining) {
  device_->take_plan(plan_, placed_);
  const auto batch_bytes = device_->prepare(key_, seeds_).size.bytes;
  options_.max_bytes = 7 * batch_bytes / 2;
  device_ = std::make_unique<EmulatedDevice>(job_, options_, base::Progress{});
  plan_.topology = Home::host;
  plan_.cache.policy = CachePolicy::out_degree;
  device_->take_plan(plan_, placed_);
  device_->train(device_->prepare(key_, seeds_), [](const nn::TensorBatch&) {});
  device_->fill_due_caches();
  const auto hits_now = [&] {
    (void)device_->take_cache_use();
    (void)device_->prepare(key_, seeds_);
    return device_->take_cache_use().row_hits;
  };
  const auto at_first = hits_now();
  EXPECT_GT(at_first, 0);

  std::vector<DeviceBatch> waiting;
  for (int i = 0; i < 2; ++i) {
    waiting.push_back(device_->prepare(key_, seeds_));
    expect_same(waiting.back(), batch_);
    device_->fill_due_caches();
  }
  waiting.pop_back();
  const auto beside_batches = hits_now();
  EXPECT_LT(beside_batches, at_first);

  int calls = 0;
  device_->train(device_->prepare(key_, seeds_), [&](const nn::TensorBatch&) {
    ++calls;
    (void)at::zeros({batch_bytes}, at::kByte);
  });
  EXPECT_GT(calls, 1);
  device_->fill_due_caches();
  EXPECT_LT(hits_now(), beside_batches);
  EXPECT_THROW(device_->train(std::move(waiting.back()),
                              [&](const nn::TensorBatch&) { (void)at::zeros({4 * batch_bytes}, at::kByte); }),
               OutOfDeviceMemory)
      << "no cache gives that much";
}

TEST_F(EmulatedLinkTest, FusedPlansReadTheRowsWhenTheyTrain) {
  plan_.topology = Home::device;
  plan_.fused = true;
  device_->take_plan(plan_, placed_);
  auto batch = device_->prepare(key_, seeds_);
  const auto use = use_of([&] { device_->train(std::move(batch), [](const nn::TensorBatch&) {}); });
  EXPECT_EQ(use.reads, row_reads(batch_.batch.vertices));
}

}  // namespace
}  // namespace emulated
}  // namespace gnomon::runtime
