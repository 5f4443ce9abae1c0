#include <gtest/gtest.h>
#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "runtime/accelerator.h"
#include "runtime/batch_data.h"
#include "runtime/stages.h"
#include "runtime/trainer.h"
#include "tests/runtime/device_batches.h"
#include "tests/runtime/test_runs.h"

namespace gnomon::runtime {
namespace {

using plan::CachePolicy;
using plan::Home;

const graph::Graph& graph_of_tests() {
  static const auto graph = planted_graph(1500, 32);
  return graph;
}

plan::Plan gpu_plan(const std::string& preset) {
  return plan::resolve(plan::find_plan(preset), {2, false}, preset);
}

TEST(GpuOptions, AGpuThatIsNotThereIsRefused) {
  if (why_no_gpu().empty()) {
    GTEST_SKIP() << "there is one";
  }
  TrainOptions options{.job = small_job(plan::ModelKind::sage), .plan = gpu_plan("dgl-uva")};
  options.device.gpu = true;
  EXPECT_THROW(train(graph_of_tests(), options), base::InputError);
}

class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = why_no_gpu(); !why.empty()) {
      GTEST_SKIP() << "needs a GPU: " << why;
    }
  }
  static TrainReport run(const plan::Plan& plan, plan::ModelKind model, bool gpu = true) {
    TrainOptions options{.job = small_job(model), .plan = plan};
    options.device.gpu = gpu;
    return train(graph_of_tests(), options);
  }
};

TEST_F(GpuTest, PreparesAndCopiesTheCpusBatchesWhereverDataLies) {
  const auto job = small_job(plan::ModelKind::sage);
  const auto placed =
      place(graph_of_tests(), kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0});
  for (const Home topology : {Home::host, Home::device}) {
    for (const auto policy : {CachePolicy::none, CachePolicy::presample, CachePolicy::value_weight}) {
      auto plan = gpu_plan("dgl-uva");
      plan.topology = topology;
      plan.features = policy == CachePolicy::none ? topology : Home::host;
      plan.cache.policy = policy;
      plan.cache.topology = topology == Home::host;
      plan.cache.budget = 1e-6;  // of a large memory: some rows
      const auto gpu = open_gpu(placed, job, plan, {.gpu = true}, {});
      gpu->train([] {});  // fills the cache
      kernels::cpu::Sampler sampler(placed.topology, job.fanouts);
      const auto seeds = graph::epoch_order(graph_of_tests().train, job.seed, 0);
      for (std::int64_t batch = 0; batch < 5; ++batch) {
        const kernels::BatchKey key{job.seed, 0, static_cast<std::uint64_t>(batch)};
        const auto own = graph::batch_seeds(seeds, job.batch_size, batch);
        BatchData expected(gpu->host_memory());
        prepare_batch(graph_of_tests(), sampler, key, own, expected);
        expect_same(gpu->prepare(key, own), expected);
        expect_same(gpu->copy(expected), expected);
        BatchData sampled;
        gpu->sample(key, own, sampled);
        auto gathered = gpu->copy(sampled);
        gpu->gather(gathered);
        expect_same(gathered, expected);
      }
    }
  }
}

TEST_F(GpuTest, ExactPlansInOrderEndWithTheSameBits) {
  for (const auto model : {plan::ModelKind::gcn, plan::ModelKind::sage, plan::ModelKind::gat}) {
    const auto expected = run(gpu_plan("dgl-uva"), model);
    for (const auto& preset : plan::runnable_presets(false)) {
      const auto plan = gpu_plan(preset.name);
      const auto report = run(plan, model);
      EXPECT_NEAR(report.test_accuracy, expected.test_accuracy, 0.05) << preset.name;
      if (plan::trains_in_order(plan)) {
        EXPECT_EQ(report.weights_hash, expected.weights_hash) << preset.name;
        auto fused = plan;
        fused.fused = true;
        EXPECT_EQ(run(fused, model).weights_hash, expected.weights_hash) << preset.name << ", fused";
      }
    }
  }
}

TEST_F(GpuTest, LearnsAsTheCpuDoes) {
  for (const auto model : {plan::ModelKind::gcn, plan::ModelKind::sage, plan::ModelKind::gat}) {
    const auto on_cpu = run(plan::resolve(plan::find_plan("device"), {2, true}, "cpu"), model, false);
    const auto on_gpu = run(gpu_plan("dgl-uva"), model);
    for (std::size_t epoch = 0; epoch < on_cpu.epochs.size(); ++epoch) {
      EXPECT_NEAR(on_gpu.epochs[epoch].loss, on_cpu.epochs[epoch].loss, 1e-3);
    }
  }
}

TEST_F(GpuTest, EndsWithTheSameBitsInLessOfItsMemory) {
  auto plan = gpu_plan("ducati");
  const auto expected = run(plan, plan::ModelKind::sage);
  EXPECT_GT(expected.epochs.back().cache.row_hit_share().value_or(0), 0);
  for (const std::int64_t mebibytes : {1024, 512, 256}) {
    plan.device_memory_bytes = mebibytes << 20;
    EXPECT_EQ(run(plan, plan::ModelKind::sage).weights_hash, expected.weights_hash) << mebibytes << " MiB";
  }
}

TEST_F(GpuTest, SaysWhatMemoryIsMissing) {
  auto plan = gpu_plan("dgl-uva");
  plan.features = Home::device;
  plan.device_memory_bytes = 100000;
  try {
    run(plan, plan::ModelKind::sage);
    FAIL() << "100 kB hold no training";
  } catch (const base::Failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("device memory: does not suffice for"), std::string::npos)
        << failure.what();
  }
}

}  // namespace
}  // namespace gnomon::runtime
