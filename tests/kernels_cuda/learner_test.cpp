#include "nn/learner.h"

#include <gtest/gtest.h>
#include <torch/serialize/input-archive.h>
#include <torch/serialize/output-archive.h>

#include <cmath>
#include <iterator>
#include <memory>
#include <numeric>
#include <sstream>

#include "graph/epoch_order.h"
#include "graph/generate/generate.h"
#include "nn/inference.h"
#include "runtime/batch/batch_data.h"
#include "runtime/batch/batch_tensors.h"
#include "tests/fixtures/label_sets.h"
#include "tests/kernels_cuda/tensors_on_device.h"

// Training on CUDA tensors beside the CPU.

namespace gnomon::runtime {
namespace {

const graph::Graph& toy() {
  static const graph::Graph graph = [] {
    graph::PlantedPartition options;
    options.vertices = 4000;
    options.average_degree = 12;
    options.classes = 8;
    options.feature_columns = 40;
    options.seed = 9;
    return graph::generate_in_memory(options);
  }();
  return graph;
}

plan::Job job_of(plan::ModelKind model) {
  plan::Job job;
  job.model = model;
  job.fanouts = {5, 5};
  job.hidden = 32;
  job.heads = 4;
  job.batch_size = 128;
  job.dropout = 0.5;
  job.seed = 3;
  return job;
}

class CudaLearner : public testing::TestWithParam<plan::ModelKind> {
 protected:
  void SetUp() override {
    if (const auto why = kernels::cuda::why_no_tensors(); !why.empty()) {
      GTEST_SKIP() << why;
    }
  }
  static constexpr c10::DeviceType gpu = at::kCUDA;

  /// The mean loss of each of `steps` steps from step `first` on.
  static std::vector<double> losses(nn::Learner& learner, at::Device device, std::int64_t first,
                                    std::int64_t steps) {
    const auto job = job_of(GetParam());
    kernels::cpu::Sampler sampler(toy(), job.fanouts);
    BatchData data;
    const auto batches = graph::num_batches(std::ssize(toy().train), job.batch_size);
    std::vector<double> all;
    for (std::int64_t step = first; step < first + steps; ++step) {
      const auto epoch = step / batches;
      const auto seeds = graph::epoch_order(toy().train, job.seed, static_cast<std::uint64_t>(epoch));
      const auto batch = step % batches;
      prepare_batch(toy(), sampler,
                    {job.seed, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(batch)},
                    graph::batch_seeds(seeds, job.batch_size, batch), data);
      nn::StepSums sums;
      learner.step(nn::on_device(view_of(data), device), epoch, batch, sums);
      const auto result = sums.read();
      all.push_back(result.loss_sum / static_cast<double>(result.seeds));
    }
    return all;
  }
  static nn::Learner fresh(at::Device device) {
    return nn::Learner(job_of(GetParam()), toy().features.columns, toy().num_classes, device);
  }
};

INSTANTIATE_TEST_SUITE_P(EveryModel, CudaLearner,
                         testing::Values(plan::ModelKind::gcn, plan::ModelKind::sage, plan::ModelKind::gat),
                         [](const auto& tested) { return std::string(base::name_of(tested.param)); });

TEST_P(CudaLearner, LossCurveIsTheCpus) {
  auto on_cpu = fresh(at::kCPU);
  auto on_gpu = fresh(gpu);
  const auto expected = losses(on_cpu, at::kCPU, 0, 100);
  const auto found = losses(on_gpu, gpu, 0, 100);
  for (std::size_t step = 0; step < expected.size(); ++step) {
    EXPECT_NEAR(found[step], expected[step], 1e-3) << "step " << step;
  }
  const auto mean = [](auto begin, auto end) {
    return std::accumulate(begin, end, 0.0) / std::distance(begin, end);
  };
  EXPECT_LT(mean(expected.end() - 20, expected.end()),
            mean(expected.begin(), expected.begin() + 20));  // it learns
}

TEST_P(CudaLearner, StepsTwiceHaveTheSameBits) {
  auto first = fresh(gpu);
  auto second = fresh(gpu);
  EXPECT_EQ(losses(first, gpu, 0, 20), losses(second, gpu, 0, 20));
  EXPECT_EQ(nn::hash_of(first.model().parameters()), nn::hash_of(second.model().parameters()));
}

/// A step that lacked memory before its update.
TEST(CudaStepSums, ARepeatedStepCountsOnce) {
  if (const auto why = kernels::cuda::why_no_tensors(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  const auto gpu = at::TensorOptions(at::kCUDA);
  const auto logits = at::tensor({0.F, 2.F, 1.F, 3.F, 0.F, 0.F}, gpu.dtype(at::kFloat)).view({2, 3});
  const auto labels = at::tensor({std::int64_t{1}, std::int64_t{2}}, gpu.dtype(at::kLong));
  nn::StepSums once, repeated;
  const auto expected = once.add_cross_entropy(logits, {labels});
  once.end_step();
  (void)repeated.add_cross_entropy(logits, {labels});
  EXPECT_TRUE(at::equal(repeated.add_cross_entropy(logits, {labels}), expected));
  repeated.end_step();
  EXPECT_EQ(repeated.read().loss_sum, once.read().loss_sum);
  EXPECT_EQ(repeated.read().correct, once.read().correct);
  EXPECT_EQ(repeated.read().seeds, 2);
  (void)once.add_cross_entropy(logits, {labels});
  EXPECT_EQ(once.read().seeds, 4);
}

/// From the second epoch on by recorded launches. The weights tell whether the bits are the same
/// nevertheless.
TEST_P(CudaLearner, RecordedStepsTrainAsOthersDo) {
  auto without = fresh(gpu);
  auto recorded = fresh(gpu);
  auto again = fresh(gpu);
  recorded.use_graphs(true);
  again.use_graphs(true);
  const auto expected = losses(without, gpu, 0, 100);
  const auto found = losses(recorded, gpu, 0, 100);
  for (std::size_t step = 0; step < expected.size(); ++step) {
    EXPECT_NEAR(found[step], expected[step], 1e-3) << "step " << step;
  }
  EXPECT_EQ(losses(again, gpu, 0, 100), found);
  const auto hash = nn::hash_of(recorded.model().parameters());
  EXPECT_EQ(nn::hash_of(again.model().parameters()), hash);
  RecordProperty("same_bits_as_without", hash == nn::hash_of(without.model().parameters()) ? "yes" : "no");
}

TEST_P(CudaLearner, LearnsSeveralClassesPerVertexAsTheCpu) {
  const auto graph = test::with_label_sets(toy(), 4);
  const auto with_sets = [&](at::Device device) {
    return nn::Learner(job_of(GetParam()), graph.features.columns, graph.num_classes, device,
                       nn::label_sets_of(graph, device));
  };
  auto on_cpu = with_sets(at::kCPU);
  auto on_gpu = with_sets(gpu);
  auto recorded = with_sets(gpu);
  recorded.use_graphs(true);
  const auto expected = losses(on_cpu, at::kCPU, 0, 60);
  const auto found = losses(on_gpu, gpu, 0, 60);
  const auto replayed = losses(recorded, gpu, 0, 60);
  for (std::size_t step = 0; step < expected.size(); ++step) {
    EXPECT_NEAR(found[step], expected[step], 1e-3) << "step " << step;
    EXPECT_NEAR(replayed[step], expected[step], 1e-3) << "step " << step;
  }
}

TEST_P(CudaLearner, CheckpointsGoFromOneDeviceToTheOther) {
  auto on_gpu = fresh(gpu);
  losses(on_gpu, gpu, 0, 10);
  torch::serialize::OutputArchive written;
  on_gpu.save(written);
  std::stringstream bytes;
  written.save_to(bytes);
  const auto resumed = [&](at::Device device) {
    std::stringstream copy(bytes.str());
    torch::serialize::InputArchive read;
    read.load_from(copy);
    auto learner = fresh(device);
    learner.load(read);
    EXPECT_EQ(nn::hash_of(learner.model().parameters()), nn::hash_of(on_gpu.model().parameters()));
    return losses(learner, device, 10, 10);
  };
  const auto on_cpu_again = resumed(at::kCPU);
  const auto on_gpu_again = resumed(gpu);
  const auto uninterrupted = losses(on_gpu, gpu, 10, 10);
  EXPECT_EQ(on_gpu_again, uninterrupted);
  for (std::size_t step = 0; step < on_cpu_again.size(); ++step) {
    EXPECT_NEAR(on_cpu_again[step], uninterrupted[step], 1e-3) << "step " << step;
  }
}

TEST_P(CudaLearner, InferenceIsTheCpus) {
  const auto expected = nn::infer(toy(), fresh(at::kCPU).model(), {.chunk_bytes = 100000});
  const auto found = nn::infer(toy(), fresh(gpu).model(), {.chunk_bytes = 100000});
  EXPECT_LT(((found - expected).norm() / expected.norm()).item<double>(), 1e-5);
}

}  // namespace
}  // namespace gnomon::runtime
