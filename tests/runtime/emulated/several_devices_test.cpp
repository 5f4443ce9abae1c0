#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "nn/learner.h"
#include "runtime/batch/batch_tensors.h"
#include "runtime/placement.h"
#include "tests/fixtures/temporary_directory.h"
#include "tests/runtime/emulated/emulated_options.h"
#include "tests/runtime/test_runs.h"

/// Training on several emulated devices.
namespace gnomon::runtime {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

DeviceOptions devices_of(int count) { return emulated_options(std::int64_t{64} << 20, count); }

plan::Plan plan_on(int devices, const std::string& preset) {
  auto plan = plan::find_plan(preset);
  plan.devices = devices;
  plan.order = plan::Order::index;
  return plan::resolve(plan, {2, plan::DeviceKind::emulated, devices}, preset);
}

TrainReport run(const plan::Plan& plan, const plan::Job& job) {
  TrainOptions options{.job = job, .plan = plan};
  options.device = devices_of(plan.devices);
  return train(graph_of_tests(), options);
}

/// The weights of one device that averages the gradients of so many mini-batches before each update.
std::string weights_of_averages(const plan::Job& job, int batches_of_step) {
  const auto& graph = graph_of_tests();
  const auto placed = place(graph, kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0});
  kernels::cpu::Sampler sampler(placed.topology, job.fanouts);
  nn::Learner learner(job, graph.features.columns, graph.num_classes);
  const auto batches = graph::num_batches(std::ssize(graph.train), job.batch_size);
  for (std::uint64_t epoch = 0; epoch < static_cast<std::uint64_t>(job.epochs); ++epoch) {
    const auto order = graph::epoch_order(graph.train, job.seed, epoch);
    for (std::int64_t first = 0; first < batches; first += batches_of_step) {
      const auto end = std::min(batches, first + batches_of_step);
      std::vector<at::Tensor> sums, buffers;
      for (std::int64_t batch = first; batch < end; ++batch) {
        BatchData data;
        prepare_batch(graph, sampler, {job.seed, epoch, static_cast<std::uint64_t>(batch)},
                      graph::batch_seeds(order, job.batch_size, batch), data);
        learner.backward(view_of(data), static_cast<std::int64_t>(epoch), batch);
        const auto weights = learner.model().parameters();
        for (std::size_t i = 0; i < weights.size(); ++i) {
          if (batch == first) {
            sums.push_back(weights[i].grad().clone());
          } else {
            sums[i].add_(weights[i].grad());
          }
        }
        if (batch == first) {  // the running statistics are those of the first device
          for (const auto& buffer : learner.model().buffers()) {
            buffers.push_back(buffer.clone());
          }
        }
      }
      nn::copy_values(buffers, learner.model().buffers());
      const auto weights = learner.model().parameters();
      for (std::size_t i = 0; i < weights.size(); ++i) {
        weights[i].mutable_grad() = sums[i].div_(static_cast<double>(end - first));
      }
      learner.update(static_cast<std::int64_t>(epoch));
    }
  }
  return nn::hash_of(learner.model().state());
}

TEST(SeveralDevices, EndWithTheWeightsOfOneDeviceThatAverages) {
  for (const int devices : {2, 3}) {  // the last of 28 batches is a step of its own with 3 devices
    for (const auto model : {plan::ModelKind::sage, plan::ModelKind::gcn, plan::ModelKind::gat}) {
      const auto job = small_job(model);
      const auto expected = weights_of_averages(job, devices);
      EXPECT_NE(expected, weights_of_averages(job, 1));
      for (const char* preset :
           {"dgl-uva", "salient", "ducati", "t_sota", "pytorch-direct", "pagraph", "gnomon"}) {
        EXPECT_EQ(run(plan_on(devices, preset), job).weights_hash, expected)
            << preset << " on " << devices << " devices";
      }
    }
  }
}

TEST(SeveralDevices, HaveTheRunningStatisticsOfTheFirst) {
  auto job = small_job(plan::ModelKind::sage);
  job.norm = plan::Norm::batch;
  job.dropout = 0.3;
  EXPECT_EQ(run(plan_on(2, "dgl-uva"), job).weights_hash, weights_of_averages(job, 2));
}

TEST(SeveralDevices, EndWithTheSameWeightsWhateverTheTimingAndTheThreads) {
  const auto job = small_job(plan::ModelKind::sage);
  auto plan = plan_on(2, "gnomon");
  const auto expected = run(plan, job).weights_hash;
  for (const std::uint64_t seed : {1, 2}) {
    plan.device_threads = static_cast<int>(seed);
    TrainOptions options{.job = job, .plan = plan};
    options.device = devices_of(2);
    options.before_stage = random_delays(seed);
    EXPECT_EQ(train(graph_of_tests(), options).weights_hash, expected);
  }
}

TEST(SeveralDevices, CountEveryBatchOnceAndTheHitsOfAllDevices) {
  const auto one = run(plan_on(1, "sota"), small_job(plan::ModelKind::sage)).epochs.back();
  const auto two = run(plan_on(2, "sota"), small_job(plan::ModelKind::sage)).epochs.back();
  EXPECT_EQ(two.log.trained, one.log.trained);
  EXPECT_EQ(two.cache.rows, one.cache.rows);
  EXPECT_GT(two.cache.row_hits, one.cache.rows / 2);
}

TEST(SeveralDevices, AreResumedInTheMiddleOfAnEpoch) {
  const auto job = small_job(plan::ModelKind::sage);
  const auto plan = plan_on(3, "dgl-uva");
  const auto expected = run(plan, job).weights_hash;
  test::TemporaryDirectory directory;
  std::atomic<bool> stop = false;
  TrainOptions options{.job = job, .plan = plan};
  options.device = devices_of(3);
  options.run_directory = directory.path() / "run";
  options.stop = &stop;
  options.before_stage = [&](schedule::Stage stage, std::int64_t batch) {
    stop = stop || (stage == schedule::Stage::train && batch == 11);
  };
  EXPECT_THROW(train(graph_of_tests(), options), base::Interrupted);
  stop = false;
  options.before_stage = {};
  options.resume = true;
  EXPECT_EQ(train(graph_of_tests(), options).weights_hash, expected);
}

/// Quiver's cache of rows, and DSP's of rows and lists, which its sampling reads.
TEST(SeveralDevices, ShareCachesAndEndWithTheSameWeights) {
  for (const int devices : {2, 3}) {
    const auto job = small_job(plan::ModelKind::sage);
    const auto expected = weights_of_averages(job, devices);
    auto fused = plan_on(devices, "quiver");
    fused.fused = true;
    const auto of_fused = run(fused, job);
    EXPECT_EQ(of_fused.weights_hash, expected) << "fused on " << devices << " devices";
    EXPECT_GT(of_fused.epochs.back().cache.row_peer_hits, 0);
    for (const char* preset : {"quiver", "dsp"}) {
      const auto report = run(plan_on(devices, preset), job);
      EXPECT_EQ(report.weights_hash, expected) << preset << " on " << devices << " devices";
      const auto& use = report.epochs.back().cache;
      EXPECT_GT(use.row_peer_hits, use.row_hits / 4) << preset;
      EXPECT_LT(use.row_peer_hits, use.row_hits) << preset;
      EXPECT_EQ(use.list_peer_hits > 0, preset == std::string("dsp"));
    }
  }
}

TEST(SeveralDevices, HoldWholeCachesWhereTheyAreNotLinked) {
  const auto job = small_job(plan::ModelKind::sage);
  TrainOptions options{.job = job, .plan = plan_on(2, "quiver")};
  options.device = devices_of(2);
  options.device.peers.bandwidth_bytes_per_s = 0;
  const auto report = train(graph_of_tests(), options);
  EXPECT_EQ(report.weights_hash, weights_of_averages(job, 2));
  EXPECT_GT(report.epochs.back().cache.row_hits, 0);
  EXPECT_EQ(report.epochs.back().cache.row_peer_hits, 0);
}

TEST(SeveralDevices, HoldTheModelAndTheOptimisersStateEach) {
  const auto job = small_job(plan::ModelKind::sage);
  const nn::Learner learner(job, 32, 4);
  for (const int devices : {1, 2}) {
    TrainOptions options{.job = job, .plan = plan_on(devices, "dgl-uva")};
    options.device = devices_of(devices);
    options.device.max_bytes = (devices == 1 ? 1 : 3) * learner.weight_bytes() / 2;
    EXPECT_THAT([&] { train(graph_of_tests(), options); },
                ThrowsMessage<base::Failure>(HasSubstr("device memory: does not suffice for")));
  }
}

plan::Plan factored_on(int devices, int samplers, plan::Order order) {
  auto plan = plan::find_plan("gnnlab");
  plan.devices = devices;
  plan.samplers = samplers;
  plan.order = order;
  plan.switch_roles = false;
  return plan::resolve(plan, {2, plan::DeviceKind::emulated, devices}, "factored");
}

/// S samplers and T trainers end with the weights of T devices that train data-parallel.
TEST(DividedRoles, EndWithTheWeightsOfTheTrainers) {
  const auto job = small_job(plan::ModelKind::sage);
  for (const auto& [devices, samplers] : {std::pair(2, 1), {3, 1}, {3, 2}, {5, 2}}) {
    const auto report = run(factored_on(devices, samplers, plan::Order::index), job);
    EXPECT_EQ(report.weights_hash, weights_of_averages(job, devices - samplers))
        << samplers << " of " << devices << " sample";
    EXPECT_GT(report.epochs.back().cache.row_hits, 0);
  }
}

TEST(DividedRoles, ShareTheTrainersCache) {
  const auto job = small_job(plan::ModelKind::sage);
  auto plan = factored_on(3, 1, plan::Order::index);
  plan.cache.sharded = true;
  const auto report = run(plan, job);
  EXPECT_EQ(report.weights_hash, weights_of_averages(job, 2));
  EXPECT_GT(report.epochs.back().cache.row_peer_hits, 0);
}

TEST(DividedRoles, ReplayTheOrderInWhichBatchesBecameReady) {
  const auto job = small_job(plan::ModelKind::sage);
  TrainOptions options{.job = job, .plan = factored_on(4, 2, plan::Order::as_ready)};
  options.device = devices_of(4);
  options.before_stage = random_delays(7);
  const auto report = train(graph_of_tests(), options);
  options.before_stage = {};
  for (const auto& epoch : report.epochs) {
    EXPECT_FALSE(std::is_sorted(epoch.log.trained.begin(), epoch.log.trained.end()));
    options.replay.push_back(epoch.log.trained);
  }
  EXPECT_EQ(train(graph_of_tests(), options).weights_hash, report.weights_hash);
}

TEST(DividedRoles, SamplersStandInForTrainers) {
  const auto job = small_job(plan::ModelKind::sage);
  auto plan = plan_on(3, "gnnlab");
  plan.order = plan::Order::as_ready;
  const auto report = run(plan, job);
  auto trained = report.epochs.back().log.trained;
  std::sort(trained.begin(), trained.end());
  std::vector<std::int64_t> all(
      static_cast<std::size_t>(graph::num_batches(std::ssize(graph_of_tests().train), job.batch_size)));
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(trained, all);
  TrainOptions options{.job = job, .plan = plan};
  options.device = devices_of(3);
  options.replay.assign(2, trained);
  EXPECT_THAT([&] { train(graph_of_tests(), options); },
              ThrowsMessage<base::InputError>(HasSubstr("use a plan with switch_roles false")));
}

}  // namespace
}  // namespace gnomon::runtime
