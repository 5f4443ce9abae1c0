#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "nn/direct_pass.h"
#include "nn/gradients.h"
#include "nn/inference.h"
#include "nn/models.h"
#include "runtime/batch/batch_tensors.h"
#include "runtime/device.h"
#include "runtime/training/trainer.h"
#include "tests/nn/take_gradients.h"
#include "tests/runtime/device_batches.h"
#include "tests/runtime/device_contract.h"
#include "tests/runtime/test_runs.h"

namespace gnomon::runtime {
namespace {

using plan::CachePolicy;
using plan::Home;

constexpr DeviceOptions gpu{.kind = plan::DeviceKind::cuda};

std::string why_skipped() {
  const auto why = why_no_device(gpu);
  return why.empty() ? "" : "needs a GPU: " + why;
}

struct CudaWorld {
  static std::string why_not() { return why_skipped(); }
  static std::unique_ptr<Device> open(std::shared_ptr<const PlacedGraph> graph, const plan::Job& job,
                                      const plan::Plan& plan) {
    return open_device(std::move(graph), job, plan, gpu);
  }
};

}  // namespace

INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, DeviceContract, CudaWorld);

namespace {

plan::Plan gpu_plan(const std::string& preset) {
  return plan::resolve(plan::find_plan(preset), {2, plan::DeviceKind::cuda}, preset);
}

TEST(GpuOptions, AGpuThatIsNotThereIsRefused) {
  if (why_no_device(gpu).empty()) {
    GTEST_SKIP() << "there is one";
  }
  TrainOptions options{.job = small_job(plan::ModelKind::sage), .plan = gpu_plan("dgl-uva")};
  options.device = gpu;
  EXPECT_THROW(train(graph_of_tests(), options), base::InputError);
  const auto placed = std::make_shared<const PlacedGraph>(
      place(graph_of_tests(), kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0}));
  EXPECT_THROW(open_device(placed, options.job, options.plan, gpu), base::InputError);
}

class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = why_skipped(); !why.empty()) {
      GTEST_SKIP() << why;
    }
  }
  static TrainReport run(const plan::Plan& plan, plan::ModelKind model, DeviceOptions device = gpu) {
    TrainOptions options{.job = small_job(model), .plan = plan};
    options.device = device;
    return train(graph_of_tests(), options);
  }
};

TEST_F(GpuTest, PreparesAndCopiesTheCpusBatchesWhereverDataLies) {
  const auto job = small_job(plan::ModelKind::gcn);  // reads degrees, too
  const auto placed = std::make_shared<const PlacedGraph>(
      place(graph_of_tests(), kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0}));
  for (const Home topology : {Home::host, Home::device}) {
    for (const auto policy : {CachePolicy::none, CachePolicy::presample, CachePolicy::value_weight}) {
      auto plan = gpu_plan("dgl-uva");
      plan.topology = topology;
      plan.features = policy == CachePolicy::none ? topology : Home::host;
      plan.cache.policy = policy;
      plan.cache.topology = topology == Home::host;
      plan.cache.budget = 1e-6;  // of a large memory: some rows
      const auto device = open_device(placed, job, plan, gpu);
      const auto seeds = graph::epoch_order(graph_of_tests().train, job.seed, 0);
      kernels::cpu::Sampler sampler(placed->topology, job.fanouts);
      const auto own_of = [&](std::int64_t batch) {
        return graph::batch_seeds(seeds, job.batch_size, batch);
      };
      device->train(device->prepare({job.seed, 0, 0}, own_of(0)), [](const auto&) {});
      device->fill_due_caches();
      for (std::int64_t batch = 0; batch < 5; ++batch) {
        const kernels::BatchKey key{job.seed, 0, static_cast<std::uint64_t>(batch)};
        BatchData expected;
        prepare_batch(graph_of_tests(), sampler, key, own_of(batch), expected);
        expect_same(device->prepare(key, own_of(batch)), expected);
        auto copied = device->slots().take();
        copy_batch(expected, *copied);
        expect_same(device->copy(std::move(copied)), expected);
        auto sampled = device->slots().take();
        device->sample(key, own_of(batch), *sampled);
        auto gathered = device->copy(std::move(sampled));
        device->gather(gathered);
        expect_same(gathered, expected);
      }
    }
  }
}

/// Whether the plan trains the model: GAT's attention has no gradient for reused embeddings.
bool trains(const plan::Plan& plan, plan::ModelKind model) {
  return model != plan::ModelKind::gat || plan.embeddings.reuse != plan::Reuse::hot;
}

/// Plans that are not exact train other mini-batches: after these few steps some are better by far.
TEST_F(GpuTest, ExactPlansInOrderEndWithTheSameBits) {
  for (const auto model : {plan::ModelKind::gcn, plan::ModelKind::sage, plan::ModelKind::gat}) {
    const auto expected = run(gpu_plan("dgl-uva"), model);
    for (const auto& preset : plan::runnable_presets(plan::abilities_of(plan::DeviceKind::cuda))) {
      const auto plan = gpu_plan(preset.name);
      if (!trains(plan, model)) {
        continue;
      }
      const auto report = run(plan, model);
      EXPECT_GT(report.test_accuracy, expected.test_accuracy - 0.05) << preset.name;
      if (plan.exact && plan::trains_in_order(plan)) {
        EXPECT_EQ(report.weights_hash, expected.weights_hash) << preset.name;
        auto fused = plan;
        fused.fused = true;
        EXPECT_EQ(run(fused, model).weights_hash, expected.weights_hash) << preset.name << ", fused";
      }
    }
  }
}

/// A mini-batch of the tests' graph in a GPU's memory.
nn::TensorBatch batch_on_gpu(const plan::Job& job, BatchData& prepared) {
  const auto order = graph::epoch_order(graph_of_tests().train, job.seed, 0);
  kernels::cpu::Sampler sampler(graph_of_tests(), job.fanouts);
  prepare_batch(graph_of_tests(), sampler, {job.seed, 0, 1}, graph::batch_seeds(order, job.batch_size, 1),
                prepared);
  auto data = nn::on_device(view_of(prepared), at::kCUDA);
  data.blocks = nn::grouped(std::move(data.blocks));
  return data;
}

TEST_F(GpuTest, DirectPassHasTheBitsOfAutograd) {
  for (const auto kind : {plan::ModelKind::sage, plan::ModelKind::gcn}) {
    auto job = small_job(kind);
    job.dropout = 0.3;
    const nn::Model model(job, graph_of_tests().features.columns, graph_of_tests().num_classes, at::kCUDA);
    BatchData prepared;
    const auto data = batch_on_gpu(job, prepared);
    const nn::DropoutSpec dropout{job.dropout, {5, base::Purpose::dropout, 2, 3}};
    const auto logits = model.forward(data, dropout);
    const auto gradient = at::ones_like(logits);
    nn::compute_gradients(logits, gradient);
    const auto expected = test::take_gradients(model);

    ASSERT_TRUE(nn::DirectPass::can_run(model, data));
    const nn::DirectPass pass(model, data, dropout);
    EXPECT_TRUE(at::equal(pass.logits(), logits.detach()));
    pass.compute_gradients(gradient);
    const auto found = test::take_gradients(model);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(at::equal(found[i], expected[i])) << base::name_of(kind) << ", weight " << i;
    }
  }
}

/// Preparation beside training goes on while launches are recorded.
TEST_F(GpuTest, RecordedStepsLearnTheSameAndRepeatTheirBits) {
  for (const auto model : {plan::ModelKind::gcn, plan::ModelKind::sage, plan::ModelKind::gat}) {
    const auto expected = run(gpu_plan("dgl-uva"), model);
    std::string hash;
    for (const char* preset : {"dgl-uva", "pytorch-direct", "gnomon"}) {
      auto plan = gpu_plan(preset);
      plan.order = plan::Order::index;
      plan.graphs = true;
      const auto report = run(plan, model);
      for (std::size_t epoch = 0; epoch < expected.epochs.size(); ++epoch) {
        EXPECT_NEAR(report.epochs[epoch].loss, expected.epochs[epoch].loss, 1e-3) << preset;
      }
      EXPECT_EQ(run(plan, model).weights_hash, report.weights_hash) << preset;
      hash = hash.empty() ? report.weights_hash : hash;
      EXPECT_EQ(report.weights_hash, hash) << preset;
    }
    RecordProperty("same_bits_as_without_" + std::string(base::name_of(model)),
                   hash == expected.weights_hash ? "yes" : "no");
  }
}

TEST_F(GpuTest, LearnsAsTheCpuDoes) {
  for (const auto model : {plan::ModelKind::gcn, plan::ModelKind::sage, plan::ModelKind::gat}) {
    const auto on_cpu = run(plan::resolve(plan::find_plan("device"), {2, plan::DeviceKind::host}, "cpu"),
                            model, DeviceOptions{});
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

TEST_F(GpuTest, TheHostEvaluatesIfItsMemoryDoesNotSuffice) {
  const auto job = small_job(plan::ModelKind::sage);
  auto small = gpu;
  small.max_bytes = std::int64_t{5} << 20;  // two of the allocator's segments: the model's and the graph's
  const auto placed = std::make_shared<const PlacedGraph>(
      place(graph_of_tests(), kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0}));
  const auto& graph = placed->graph;
  const nn::Model model(job, graph.features.columns, graph.num_classes, tensor_device(gpu));
  const auto of_the_device = nn::infer(graph, model);
  const auto device = open_device(placed, job, gpu_plan("dgl-uva"), small);  // limits the memory
  const auto logits = nn::infer(graph, model);
  const auto of_the_host = nn::infer(graph, model.copied_to(at::kCPU));
  EXPECT_TRUE(at::equal(logits, of_the_host));
  EXPECT_TRUE(at::allclose(of_the_device, of_the_host, 1e-3, 1e-3));
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
