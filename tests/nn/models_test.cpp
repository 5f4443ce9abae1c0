#include "nn/models.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "graph/store/builder.h"
#include "kernels/device/stored-inl.h"
#include "nn/inference.h"
#include "nn/learner.h"
#include "nn/sparse/device_stored_features.h"
#include "runtime/batch/batch_tensors.h"
#include "tests/kernels/sparse/host_sparse_kernels.h"

namespace gnomon::nn {
namespace {

using plan::ModelKind;

constexpr std::int64_t vertices = 60;
constexpr std::int64_t columns = 11;
constexpr std::int64_t classes = 5;

/// A random directed graph with isolated vertices, a hub and a self-loop.
graph::Graph random_graph(std::uint64_t seed, graph::FeatureType type = graph::FeatureType::fp32) {
  std::mt19937_64 random(seed);
  graph::GraphParts parts;
  parts.num_vertices = vertices;
  for (int i = 0; i < 240; ++i) {
    parts.edges.push_back({static_cast<std::int64_t>(random() % vertices),
                           static_cast<std::int64_t>(random() % (vertices - 5))});
  }
  for (std::int64_t v = 0; v < vertices; ++v) {
    parts.edges.push_back({v, 7});
    parts.labels.push_back(static_cast<std::int32_t>(v % classes));
    parts.train.push_back(v);
  }
  std::normal_distribution<float> normal;
  parts.feature_columns = columns;
  parts.feature_type = type;
  for (std::int64_t i = 0; i < vertices * columns; ++i) {
    parts.features.push_back(normal(random));
  }
  return graph::make_graph(parts);
}

plan::Job job_of(ModelKind model, int hidden) {
  plan::Job job;
  job.model = model;
  job.fanouts = {-1, -1, -1};
  job.hidden = hidden;
  job.heads = 4;
  job.seed = 21;
  return job;
}

at::Tensor dense_features(const graph::Graph& graph) {
  return feature_tensor(graph.features.data, graph.features.type, vertices, columns).to(at::kDouble);
}

/// a[v][u] = 1 for each edge u → v.
at::Tensor adjacency(const graph::Graph& graph) {
  auto a = at::zeros({vertices, vertices}, at::kDouble);
  for (std::int64_t v = 0; v < vertices; ++v) {
    for (const auto u : graph.neighbours(v)) {
      a[v][u] += 1;
    }
  }
  return a;
}

/// One layer on the whole graph, from the papers' formulas with dense matrices.
at::Tensor dense_layer(ModelKind model, const at::Tensor& a, const at::Tensor& x, const at::Tensor* weights,
                       std::int64_t heads) {
  const auto identity = at::eye(vertices, at::kDouble);
  if (model == ModelKind::gcn) {
    const auto scale = (a.sum(1) + 1).rsqrt();
    return scale.unsqueeze(1) * at::matmul(a + identity, scale.unsqueeze(1) * at::matmul(x, weights[0])) +
           weights[1];
  }
  if (model == ModelKind::sage) {
    const auto mean = at::matmul(a, x) / a.sum(1).clamp_min(1).unsqueeze(1);
    return at::matmul(x, weights[0]) + at::matmul(mean, weights[1]) + weights[2];
  }
  std::vector<at::Tensor> outputs;
  const auto width = weights[0].size(1) / heads;
  for (std::int64_t h = 0; h < heads; ++h) {
    const auto z = at::matmul(x, weights[0].narrow(1, h * width, width));
    const auto logits = at::leaky_relu(
        at::matmul(z, weights[2][h]).unsqueeze(1) + at::matmul(z, weights[1][h]).unsqueeze(0), 0.2);
    const auto masked = logits.masked_fill((a + identity).eq(0), -INFINITY);
    outputs.push_back(at::matmul(masked.softmax(1), z));
  }
  return at::cat(outputs, 1) + weights[3];
}

at::Tensor dense_model(const plan::Job& job, const graph::Graph& graph,
                       const std::vector<at::Tensor>& weights) {
  const auto a = adjacency(graph);
  const auto a_layer = weights.size() / static_cast<std::size_t>(job.layers());
  auto x = dense_features(graph);
  for (int i = 0; i < job.layers(); ++i) {
    const bool is_last = i + 1 == job.layers();
    x = dense_layer(job.model, a, x, &weights[static_cast<std::size_t>(i) * a_layer],
                    is_last ? 1 : job.heads);
    if (!is_last) {
      x = job.model == ModelKind::gat ? at::elu(x) : at::relu(x);
    }
  }
  return x;
}

runtime::BatchData batch_of(const graph::Graph& graph, const plan::Job& job,
                            std::span<const std::int64_t> seeds, std::uint64_t number = 0) {
  kernels::cpu::Sampler sampler(graph, job.fanouts);
  runtime::BatchData data;
  runtime::prepare_batch(graph, sampler, {job.seed, 0, number}, seeds, data);
  return data;
}

double relative_error(const at::Tensor& found, const at::Tensor& expected) {
  const auto difference = found.detach().to(at::kDouble) - expected.detach().to(at::kDouble);
  return (difference.norm() / expected.detach().norm()).item<double>();
}

/// Biases are 0 at first; that would hide faults.
void shift_biases(const Model& model) {
  for (const auto& weight : model.parameters()) {
    if (weight.dim() == 1) {
      copy_values({weight.detach() + 0.1}, {weight});
    }
  }
}

struct Case {
  ModelKind model;
  int hidden;  ///< narrower and wider than the features: both orders of product and aggregation
};

class ModelCase : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Models, ModelCase,
                         testing::Values(Case{ModelKind::gcn, 4}, Case{ModelKind::gcn, 48},
                                         Case{ModelKind::sage, 4}, Case{ModelKind::sage, 48},
                                         Case{ModelKind::gat, 4}, Case{ModelKind::gat, 48}),
                         [](const auto& tested) {
                           return std::string(base::name_of(tested.param.model)) +
                                  std::to_string(tested.param.hidden);
                         });

TEST_P(ModelCase, WithAllNeighboursOutputsAndGradientsAreThoseOfTheDenseModel) {
  for (const auto type : {graph::FeatureType::fp32, graph::FeatureType::fp16}) {
    const auto graph = random_graph(31, type);
    const auto job = job_of(GetParam().model, GetParam().hidden);
    const Model model(job, columns, classes);
    std::vector<at::Tensor> weights;
    shift_biases(model);
    for (const auto& weight : model.parameters()) {
      weights.push_back(weight.detach().to(at::kDouble).requires_grad_());
    }
    const std::vector<std::int64_t> seeds = {7, 59, 3, 0, 58, 22};
    const auto expected = dense_model(job, graph, weights).index_select(0, at::tensor(seeds));
    const auto batch = batch_of(graph, job, seeds);
    const auto found = model.forward(runtime::view_of(batch), std::nullopt);
    EXPECT_LT(relative_error(found, expected), 1e-5);

    (expected * expected).sum().backward();
    (found * found).sum().backward();
    const auto parameters = model.parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      EXPECT_LT(relative_error(parameters[i].grad(), weights[i].grad()), 2e-5) << "weight " << i;
    }
  }
}

/// A batch whose blocks a device's kernels compute, run by the host.
TensorBatch with_device_kernels(TensorBatch batch, const kernels::HostSparseKernels& device) {
  for (auto& block : batch.blocks) {
    block = kernels::with_kernels(*block, device);
  }
  return batch;
}

TEST_P(ModelCase, OnADevicesKernelsTrainsAsOnTheCpus) {
  const auto graph = random_graph(34);
  auto job = job_of(GetParam().model, GetParam().hidden);
  job.fanouts = {3, 5, -1};
  const kernels::HostSparseKernels device;
  Learner on_cpu(job, columns, classes);
  Learner on_device(job, columns, classes);
  std::vector<std::int64_t> seeds(40);
  std::iota(seeds.begin(), seeds.end(), 0);
  for (int step = 0; step < 10; ++step) {
    const auto batch = batch_of(graph, job, seeds, static_cast<std::uint64_t>(step));
    const auto view = runtime::view_of(batch);
    const auto on_kernels = with_device_kernels(view, device);
    if (step == 0) {
      const auto logits = on_cpu.model().forward(view, std::nullopt);
      EXPECT_LT(relative_error(on_device.model().forward(on_kernels, std::nullopt), logits), 1e-5);
    }
    const auto expected = on_cpu.step(view, 0, step);
    const auto found = on_device.step(on_kernels, 0, step);
    if (step == 0) {
      const auto weights = on_cpu.model().parameters();
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const auto gradient = on_device.model().parameters()[i].grad();
        EXPECT_LT(relative_error(gradient, weights[i].grad()), 1e-5) << "weight " << i;
      }
    }
    EXPECT_NEAR(found.loss_sum / static_cast<double>(found.seeds),
                expected.loss_sum / static_cast<double>(expected.seeds), 1e-3)
        << "step " << step;
  }
}

/// The batch whose features lie in the graph only, read by the CPU or as a device reads them.
TensorBatch with_stored_features(TensorBatch batch, const graph::Graph& graph, const runtime::BatchData& data,
                                 bool by_device) {
  batch.features.reset();
  const kernels::device::Rows rows{graph.features.data, graph.features.row_bytes(), nullptr, nullptr};
  if (by_device) {
    batch.stored = std::make_shared<const nn::DeviceStoredFeatures<kernels::HostLaunches>>(
        rows, graph.features.type, graph.features.columns, runtime::ids_of(data));
  } else {
    batch.stored = nn::stored_features(graph.features, runtime::ids_of(data));
  }
  return batch;
}

TEST_P(ModelCase, TrainsOnStoredFeaturesWithTheBitsOfGatheredOnes) {
  const kernels::HostSparseKernels device;
  for (const auto type : {graph::FeatureType::fp32, graph::FeatureType::fp16}) {
    for (const double dropout : {0.0, 0.3}) {
      for (const bool by_device : {false, true}) {
        const auto graph = random_graph(35, type);
        auto job = job_of(GetParam().model, GetParam().hidden);
        job.fanouts = {3, 5, -1};
        job.dropout = dropout;
        Learner gathered(job, columns, classes);
        Learner stored(job, columns, classes);
        std::vector<std::int64_t> seeds(40);
        std::iota(seeds.begin(), seeds.end(), 0);
        for (int step = 0; step < 4; ++step) {
          const auto batch = batch_of(graph, job, seeds, static_cast<std::uint64_t>(step));
          const auto view =
              by_device ? with_device_kernels(runtime::view_of(batch), device) : runtime::view_of(batch);
          const auto expected = gathered.step(view, 0, step);
          const auto found = stored.step(with_stored_features(view, graph, batch, by_device), 0, step);
          ASSERT_EQ(found.loss_sum, expected.loss_sum) << "step " << step << ", dropout " << dropout;
        }
        EXPECT_EQ(hash_of(stored.model().parameters()), hash_of(gathered.model().parameters()));
      }
    }
  }
}

TEST_P(ModelCase, LayerWiseInferenceIsTheFullBatchForward) {
  const auto graph = random_graph(32);
  const auto job = job_of(GetParam().model, GetParam().hidden);
  const Model model(job, columns, classes);
  std::vector<at::Tensor> weights;
  shift_biases(model);
  for (const auto& weight : model.parameters()) {
    weights.push_back(weight.detach().to(at::kDouble));
  }
  const auto expected = dense_model(job, graph, weights);
  for (const std::int64_t chunk_bytes : {std::int64_t{1}, std::int64_t{3000}, std::int64_t{1} << 20}) {
    int chunks = 0;
    const auto found = infer(graph, model, {.chunk_bytes = chunk_bytes, .between_chunks = [&] { ++chunks; }});
    EXPECT_LT(relative_error(found, expected), 1e-5);
    EXPECT_EQ(chunks > 6, chunk_bytes < 4000) << chunks;
  }
}

TEST(Models, GcnOnSampledNeighboursHasTheFullLayersExpectation) {
  const auto graph = random_graph(33);
  auto job = job_of(ModelKind::gcn, 8);
  job.fanouts = {3};
  const Model model(job, columns, classes);
  std::vector<std::int64_t> seeds(vertices);
  std::iota(seeds.begin(), seeds.end(), 0);
  std::vector<at::Tensor> weights;
  for (const auto& weight : model.parameters()) {
    weights.push_back(weight.detach().to(at::kDouble));
  }
  const auto expected = dense_model(job, graph, weights);
  const int draws = 4000;
  auto sum = at::zeros({vertices, classes}, at::kDouble);
  auto squares = at::zeros({vertices, classes}, at::kDouble);
  for (int i = 0; i < draws; ++i) {
    const auto batch = batch_of(graph, job, seeds, static_cast<std::uint64_t>(i));
    const auto drawn = model.forward(runtime::view_of(batch), std::nullopt).detach().to(at::kDouble);
    sum += drawn;
    squares += drawn * drawn;
  }
  const auto mean = sum / draws;
  const auto deviation = ((squares / draws - mean * mean).clamp_min(0) / draws).sqrt();
  // 300 values: five standard errors of each, and fp32 rounding where nothing is drawn.
  EXPECT_TRUE(((mean - expected).abs() <= 5 * deviation + 1e-5).all().item<bool>());
}

TEST_P(ModelCase, InitialWeightsComeFromTheJobsSeedAlone) {
  auto job = job_of(GetParam().model, GetParam().hidden);
  at::manual_seed(1);
  const auto first = hash_of(Model(job, columns, classes).parameters());
  at::manual_seed(2);
  EXPECT_EQ(hash_of(Model(job, columns, classes).parameters()), first);
  job.seed = 22;
  EXPECT_NE(hash_of(Model(job, columns, classes).parameters()), first);
}

TEST(Models, InitialWeightsFillGlorotsInterval) {
  const Model model(job_of(ModelKind::gcn, 48), 400, classes);
  const auto weight = model.parameters()[0];
  const double bound = std::sqrt(6.0 / (400 + 48));
  EXPECT_LE(weight.abs().max().item<double>(), bound);
  EXPECT_GT(weight.abs().max().item<double>(), 0.99 * bound);
  EXPECT_NEAR(weight.to(at::kDouble).mean().item<double>(), 0, 0.02 * bound);
  EXPECT_NEAR(weight.to(at::kDouble).std().item<double>(), bound / std::sqrt(3.0), 0.02 * bound);
}

TEST(Models, ScoresCountLabelledVerticesOnly) {
  const auto logits = at::tensor({0.0, 1.0, 2.0, 1.0, 0.0, 3.0}, at::kFloat).view({3, 2});
  const std::vector<std::int32_t> labels = {1, 1, -1};
  const auto both = score(logits, labels, std::vector<std::int64_t>{0, 1, 2});
  EXPECT_DOUBLE_EQ(both.accuracy, 0.5);
  // Vertex 0 is right by a difference of 1, vertex 1 wrong by as much.
  EXPECT_NEAR(both.loss, (std::log1p(std::exp(-1.0)) + std::log1p(std::exp(1.0))) / 2, 1e-6);
  EXPECT_TRUE(std::isnan(score(logits, labels, std::vector<std::int64_t>{2}).accuracy));
}

}  // namespace
}  // namespace gnomon::nn
