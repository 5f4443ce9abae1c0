#include "nn/models.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "graph/store/builder.h"
#include "kernels/device/stored-inl.h"
#include "nn/dense/chunks.h"
#include "nn/inference.h"
#include "nn/learner.h"
#include "nn/sparse/device_stored_features.h"
#include "runtime/batch/batch_tensors.h"
#include "tests/fixtures/sparse_features.h"
#include "tests/kernels/sparse/host_sparse_kernels.h"
#include "tests/nn/tensors.h"

namespace gnomon::nn {
namespace {

using plan::ModelKind;

constexpr std::int64_t all_vertices = 60;
constexpr std::int64_t num_columns = 11;
constexpr std::int64_t classes = 5;

/// A random directed graph with isolated vertices, a hub and a self-loop.
graph::Graph random_graph(std::uint64_t seed, graph::FeatureType type = graph::FeatureType::fp32) {
  std::mt19937_64 random(seed);
  graph::GraphParts parts;
  parts.num_vertices = all_vertices;
  for (int i = 0; i < 240; ++i) {
    parts.edges.push_back({static_cast<std::int64_t>(random() % all_vertices),
                           static_cast<std::int64_t>(random() % (all_vertices - 5))});
  }
  for (std::int64_t v = 0; v < all_vertices; ++v) {
    parts.edges.push_back({v, 7});
    parts.labels.push_back(static_cast<std::int32_t>(v % classes));
    parts.train.push_back(v);
  }
  std::normal_distribution<float> normal;
  parts.feature_columns = num_columns;
  parts.feature_type = type;
  for (std::int64_t i = 0; i < all_vertices * num_columns; ++i) {
    parts.features.push_back(normal(random));
  }
  return graph::make_graph(parts);
}

/// The graph with features of which most are 0, in dense form.
graph::Graph random_sparse_graph(std::uint64_t seed, graph::FeatureType type, test::Values values) {
  const auto graph = random_graph(seed);
  return test::with_features(graph, test::mostly_zero(all_vertices, num_columns, 3, values, seed),
                             num_columns, type);
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
  return feature_tensor(graph.features.data, graph.features.type, all_vertices, num_columns).to(at::kDouble);
}

/// a[v][u] = 1 for each edge u → v.
at::Tensor adjacency(const graph::Graph& graph) {
  auto a = at::zeros({all_vertices, all_vertices}, at::kDouble);
  for (std::int64_t v = 0; v < all_vertices; ++v) {
    for (const auto u : graph.neighbours(v)) {
      a[v][u] += 1;
    }
  }
  return a;
}

/// One layer on the whole graph, from the papers' formulas with dense matrices.
at::Tensor dense_layer(ModelKind model, const at::Tensor& a, const at::Tensor& x, const at::Tensor* weights,
                       std::int64_t heads) {
  const auto identity = at::eye(all_vertices, at::kDouble);
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

/// How batch normalisation gets its statistics in the dense model.
enum class Statistics { running, of_rows };

/// Normalisation of a layer's outputs by PyTorch's formulas. `weights` are gain and bias, `running` the
/// running mean and variance.
at::Tensor dense_norm(plan::Norm norm, const at::Tensor& x, const at::Tensor* weights,
                      const at::Tensor* running, Statistics statistics) {
  if (norm == plan::Norm::layer) {
    return at::layer_norm(x, {x.size(1)}, weights[0], weights[1], 1e-5);
  }
  const auto mean = statistics == Statistics::running ? running[0] : x.mean(0);
  const auto variance = statistics == Statistics::running ? running[1] : x.var(0, false);
  return (x - mean) / (variance + 1e-5).sqrt() * weights[0] + weights[1];
}

/// The model on the whole graph. `state` is that of Model::state(), in double precision.
at::Tensor dense_model(const plan::Job& job, const graph::Graph& graph, const std::vector<at::Tensor>& state,
                       Statistics statistics = Statistics::running) {
  const auto a = adjacency(graph);
  const std::size_t of_layer = job.model == ModelKind::gcn ? 2 : job.model == ModelKind::sage ? 3 : 4;
  const std::size_t norms = static_cast<std::size_t>(job.layers() - 1);
  const auto* next = state.data();
  const auto* running = state.data() + state.size() - (job.norm == plan::Norm::batch ? 2 * norms : 0);
  auto x = dense_features(graph);
  for (int i = 0; i < job.layers(); ++i) {
    const bool is_last = i + 1 == job.layers();
    const auto inputs = x;
    x = dense_layer(job.model, a, x, std::exchange(next, next + of_layer), is_last ? 1 : job.heads);
    if (!is_last) {
      if (job.norm != plan::Norm::none) {
        x = dense_norm(job.norm, x, std::exchange(next, next + 2), running, statistics);
        running += job.norm == plan::Norm::batch ? 2 : 0;
      }
      x = job.model == ModelKind::gat ? at::elu(x) : at::relu(x);
    }
    if (job.skip) {
      x = x + (inputs.size(1) == x.size(1) ? inputs : at::matmul(inputs, *next++));
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

/// Biases are 0 and gains and running variances 1 at first; that would hide faults. The seed is fixed: where
/// gradients nearly cancel, as they do for most seeds in some case, their relative error is large.
void shift_vectors(const Model& model) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(77);
  for (const auto& tensor : model.state()) {
    if (tensor.dim() == 1) {
      copy_values({tensor.detach() + 0.05 + 0.1 * at::rand(tensor.sizes(), generator)}, {tensor});
    }
  }
}

std::vector<at::Tensor> in_double(const std::vector<at::Tensor>& tensors, bool with_gradients = false) {
  std::vector<at::Tensor> wide;
  for (const auto& tensor : tensors) {
    wide.push_back(tensor.detach().to(at::kDouble).requires_grad_(with_gradients));
  }
  return wide;
}

struct ModelShape {
  ModelKind model;
  int hidden;  ///< narrower and wider than the features: both orders of product and aggregation
  plan::Norm norm = plan::Norm::none;
  bool skip = false;
};

plan::Job job_of(const ModelShape& tested) {
  auto job = job_of(tested.model, tested.hidden);
  job.norm = tested.norm;
  job.skip = tested.skip;
  return job;
}

std::string name_of_case(const ModelShape& tested) {
  return std::string(base::name_of(tested.model)) + std::to_string(tested.hidden) +
         (tested.norm == plan::Norm::none ? "" : std::string(base::name_of(tested.norm))) +
         (tested.skip ? "skip" : "");
}

class ModelCase : public testing::TestWithParam<ModelShape> {};
INSTANTIATE_TEST_SUITE_P(Models, ModelCase,
                         testing::Values(ModelShape{ModelKind::gcn, 4}, ModelShape{ModelKind::gcn, 48},
                                         ModelShape{ModelKind::sage, 4}, ModelShape{ModelKind::sage, 48},
                                         ModelShape{ModelKind::gat, 4}, ModelShape{ModelKind::gat, 48},
                                         ModelShape{ModelKind::gcn, num_columns, plan::Norm::layer, true},
                                         ModelShape{ModelKind::gcn, 48, plan::Norm::batch, false},
                                         ModelShape{ModelKind::sage, 4, plan::Norm::batch, true},
                                         ModelShape{ModelKind::sage, 48, plan::Norm::layer, true},
                                         ModelShape{ModelKind::gat, 4, plan::Norm::layer, false},
                                         ModelShape{ModelKind::gat, 48, plan::Norm::batch, true},
                                         ModelShape{ModelKind::sage, 24, plan::Norm::none, true}),
                         [](const auto& tested) { return name_of_case(tested.param); });

TEST_P(ModelCase, WithAllNeighboursOutputsAndGradientsAreThoseOfTheDenseModel) {
  for (const auto type : {graph::FeatureType::fp32, graph::FeatureType::fp16, graph::FeatureType::bf16}) {
    const auto graph = random_graph(31, type);
    const auto job = job_of(GetParam());
    const Model model(job, num_columns, classes);
    shift_vectors(model);
    const auto weights = in_double(model.state(), true);
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

TEST_P(ModelCase, InTrainingOnAllVerticesIsTheDenseModelToo) {
  const auto graph = random_graph(36);
  const auto job = job_of(GetParam());
  const Model model(job, num_columns, classes);
  shift_vectors(model);
  const auto weights = in_double(model.state(), true);
  const auto before = in_double(model.buffers());
  std::vector<std::int64_t> seeds(all_vertices);
  std::iota(seeds.begin(), seeds.end(), 0);
  const auto batch = batch_of(graph, job, seeds);
  const auto found = model.forward(runtime::view_of(batch), DropoutSpec{0, {}});
  const auto expected = dense_model(job, graph, weights, Statistics::of_rows);
  EXPECT_LT(relative_error(found, expected), 1e-5);

  (expected * expected).sum().backward();
  (found * found).sum().backward();
  const auto parameters = model.parameters();
  double norm = 0;  // of all gradients: that of a bias before batch normalisation is 0
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    norm = std::max(norm, weights[i].grad().norm().item<double>());
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto difference = parameters[i].grad().to(at::kDouble) - weights[i].grad();
    EXPECT_LT(difference.norm().item<double>(), 2e-5 * norm) << model.state_names()[i];
  }
  // Evaluation by the moved running statistics differs from evaluation by the old ones.
  const auto after = in_double(model.buffers());
  ASSERT_EQ(after.size(), job.norm == plan::Norm::batch ? 4U : 0U);
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_GT(relative_error(after[i], before[i]), 1e-3);
  }
  EXPECT_LT(relative_error(infer(graph, model), dense_model(job, graph, in_double(model.state()))), 1e-5);
}

TEST_P(ModelCase, NamesEveryTensorOfItsStateOnce) {
  const Model model(job_of(GetParam()), num_columns, classes);
  auto names = model.state_names();
  ASSERT_EQ(names.size(), model.state().size());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
}

TEST(Models, NamesAreThoseOfTheLayersParts) {
  auto job = job_of(ModelKind::sage, 8);
  job.fanouts = {-1, -1};
  job.norm = plan::Norm::batch;
  job.skip = true;
  const Model model(job, num_columns, classes);
  EXPECT_EQ(model.state_names(),
            (std::vector<std::string>{"layers.0.self.weight", "layers.0.neighbours.weight", "layers.0.bias",
                                      "layers.0.norm.weight", "layers.0.norm.bias", "layers.0.skip.weight",
                                      "layers.1.self.weight", "layers.1.neighbours.weight", "layers.1.bias",
                                      "layers.1.skip.weight", "layers.0.norm.running_mean",
                                      "layers.0.norm.running_var"}));
  EXPECT_EQ(model.state()[4].sizes(), at::IntArrayRef({8}));
  EXPECT_EQ(model.state()[5].sizes(), at::IntArrayRef({num_columns, 8}));
}

TEST_P(ModelCase, EmbeddingsAreTheInputsOfTheLastLayer) {
  const auto graph = random_graph(37);
  auto job = job_of(GetParam());
  const Model model(job, num_columns, classes);
  shift_vectors(model);
  at::Tensor embeddings;
  const auto logits = infer(graph, model, {.chunk_bytes = 3000, .embeddings = &embeddings});
  ASSERT_EQ(embeddings.sizes(), at::IntArrayRef({all_vertices, job.hidden}));
  // A model of the last layer alone computes the logits from them.
  auto last = graph;
  const auto rows = embeddings.contiguous();
  last.features = {reinterpret_cast<const std::byte*>(rows.const_data_ptr<float>()), graph::FeatureType::fp32,
                   all_vertices, job.hidden};
  job.fanouts = {-1};
  const Model one(job, job.hidden, classes);
  const auto state = model.parameters();
  const auto of_one = one.parameters();
  copy_values({state.end() - std::ssize(of_one), state.end()}, of_one);
  EXPECT_LT(relative_error(infer(last, one, {.chunk_bytes = 3000}), logits), 1e-6);
}

/// Whether it is the bias of a hidden layer. Its gradient is 0 before batch normalisation.
bool is_before_a_norm(const std::string& name) { return name == "layers.0.bias" || name == "layers.1.bias"; }

/// A batch whose blocks a device's kernels compute, run by the host.
TensorBatch with_device_kernels(TensorBatch batch, const kernels::HostSparseKernels& device) {
  for (auto& block : batch.blocks) {
    block = kernels::with_kernels(*block, device);
  }
  return batch;
}

TEST_P(ModelCase, OnADevicesKernelsTrainsAsOnTheCpus) {
  const auto graph = random_graph(34);
  auto job = job_of(GetParam());
  job.fanouts = {3, 5, -1};
  const kernels::HostSparseKernels device;
  Learner on_cpu(job, num_columns, classes);
  Learner on_device(job, num_columns, classes);
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
      const auto names = on_cpu.model().state_names();
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const auto gradient = on_device.model().parameters()[i].grad();
        if (job.norm == plan::Norm::batch && is_before_a_norm(names[i])) {
          EXPECT_LT(gradient.norm().item<double>(), 1e-5) << names[i] << ": the norm takes it off again";
        } else {
          EXPECT_LT(relative_error(gradient, weights[i].grad()), 1e-5) << names[i];
        }
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
  for (const auto type : {graph::FeatureType::fp32, graph::FeatureType::fp16, graph::FeatureType::bf16}) {
    for (const double dropout : {0.0, 0.3}) {
      for (const bool by_device : {false, true}) {
        const auto graph = random_graph(35, type);
        auto job = job_of(GetParam());
        job.fanouts = {3, 5, -1};
        job.dropout = dropout;
        Learner gathered(job, num_columns, classes);
        Learner stored(job, num_columns, classes);
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

TEST_P(ModelCase, OnSparseFeaturesOutputsAndGradientsAreThoseOfTheDenseModel) {
  for (const auto kind : {test::Values::normal, test::Values::ones}) {
    for (const auto type : {graph::FeatureType::fp32, graph::FeatureType::fp16, graph::FeatureType::bf16}) {
      const auto graph = random_sparse_graph(38, type, kind);
      const auto sparse = test::in_sparse_form(graph);
      const auto job = job_of(GetParam());
      const Model model(job, num_columns, classes);
      shift_vectors(model);
      const auto weights = in_double(model.state(), true);
      const std::vector<std::int64_t> seeds = {7, 59, 3, 0, 58, 22};
      const auto all = dense_model(job, graph, weights);
      const auto expected = all.index_select(0, at::tensor(seeds));
      const auto batch = batch_of(sparse, job, seeds);
      const auto view = runtime::view_of(batch);
      ASSERT_TRUE(view.sparse.defined() && !view.features.defined());
      const auto found = model.forward(view, std::nullopt);
      EXPECT_LT(relative_error(found, expected), 1e-5);

      (expected * expected).sum().backward();
      (found * found).sum().backward();
      const auto parameters = model.parameters();
      const auto names = model.state_names();  // the parameters' first
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        // Where all features are ones, attention's gradients nearly cancel: the rest is mostly rounding.
        const bool cancels = names[i].find("attention") != std::string::npos;
        EXPECT_LT(relative_error(parameters[i].grad(), weights[i].grad()), cancels ? 1e-4 : 2e-5) << names[i];
      }
      for (const std::int64_t chunk_bytes : {std::int64_t{1}, std::int64_t{3000}, std::int64_t{1} << 20}) {
        EXPECT_LT(relative_error(infer(sparse, model, {.chunk_bytes = chunk_bytes}), all), 1e-5);
      }
    }
  }
}

TEST_P(ModelCase, TrainsOnSparseFeaturesAsOnDenseOnes) {
  const auto graph = random_sparse_graph(39, graph::FeatureType::fp32, test::Values::normal);
  const auto sparse = test::in_sparse_form(graph);
  auto job = job_of(GetParam());
  job.fanouts = {3, 5, -1};
  job.dropout = 0.3;
  Learner on_dense(job, num_columns, classes);
  Learner on_sparse(job, num_columns, classes);
  std::vector<std::int64_t> seeds(40);
  std::iota(seeds.begin(), seeds.end(), 0);
  const auto expected = on_dense.step(runtime::view_of(batch_of(graph, job, seeds)), 0, 0);
  const auto found = on_sparse.step(runtime::view_of(batch_of(sparse, job, seeds)), 0, 0);
  EXPECT_NEAR(found.loss_sum, expected.loss_sum, 1e-4 * expected.loss_sum);
  const auto right = on_dense.model().parameters();
  double norm = 0;
  for (const auto& weight : right) {
    norm = std::max(norm, weight.grad().norm().item<double>());
  }
  for (std::size_t i = 0; i < right.size(); ++i) {
    const auto difference = on_sparse.model().parameters()[i].grad() - right[i].grad();
    EXPECT_LT(difference.norm().item<double>(), 2e-5 * norm) << on_sparse.model().state_names()[i];
  }
}

TEST_P(ModelCase, LayerWiseInferenceIsTheFullBatchForward) {
  const auto graph = random_graph(32);
  const auto job = job_of(GetParam());
  const Model model(job, num_columns, classes);
  shift_vectors(model);
  const auto weights = in_double(model.state());
  const auto expected = dense_model(job, graph, weights);
  for (const std::int64_t chunk_bytes : {std::int64_t{1}, std::int64_t{3000}, std::int64_t{1} << 20}) {
    EXPECT_LT(relative_error(infer(graph, model, {.chunk_bytes = chunk_bytes}), expected), 1e-5);
    // Only the calling thread's chunks are counted: on one thread, all.
    const AtenThreadsGuard one_thread(1);
    int chunks = 0;
    const auto found = infer(graph, model, {.chunk_bytes = chunk_bytes, .between_chunks = [&] { ++chunks; }});
    EXPECT_LT(relative_error(found, expected), 1e-5);
    // At least 32 of the 60 vertices a chunk, for each layer and for the products of the features, and a call
    // at the end of each.
    EXPECT_EQ(chunks > 4 * (job.layers() + 1), chunk_bytes < 4000) << chunks;
  }
}

TEST_P(ModelCase, InferenceOfSomeVerticesGivesTheirRows) {
  for (const auto& graph : {random_graph(39), test::in_sparse_form(random_sparse_graph(
                                                  39, graph::FeatureType::fp32, test::Values::normal))}) {
    const auto job = job_of(GetParam());
    const Model model(job, num_columns, classes);
    shift_vectors(model);
    const auto all = infer(graph, model, {.chunk_bytes = 3000});
    const std::vector<std::int64_t> some = {31, 2, 17};
    const auto found = infer(graph, model, {.vertices = some, .chunk_bytes = 3000});
    EXPECT_LT(relative_error(found, rows_of_vertices(all, some)), 1e-6);
  }
}

TEST(Models, GcnOnSampledNeighboursHasTheFullLayersExpectation) {
  const auto graph = random_graph(33);
  auto job = job_of(ModelKind::gcn, 8);
  job.fanouts = {3};
  const Model model(job, num_columns, classes);
  std::vector<std::int64_t> seeds(all_vertices);
  std::iota(seeds.begin(), seeds.end(), 0);
  std::vector<at::Tensor> weights;
  for (const auto& weight : model.parameters()) {
    weights.push_back(weight.detach().to(at::kDouble));
  }
  const auto expected = dense_model(job, graph, weights);
  const int draws = 4000;
  auto sum = at::zeros({all_vertices, classes}, at::kDouble);
  auto squares = at::zeros({all_vertices, classes}, at::kDouble);
  for (int i = 0; i < draws; ++i) {
    const auto batch = batch_of(graph, job, seeds, static_cast<std::uint64_t>(i));
    const auto drawn = model.forward(runtime::view_of(batch), std::nullopt).detach().to(at::kDouble);
    sum += drawn;
    squares += drawn * drawn;
  }
  const auto mean = sum / draws;
  const auto deviation = ((squares / draws - mean * mean).clamp_min(0) / draws).sqrt();
  // 300 values: five standard errors of each, and fp32 rounding where nothing is drawn. The seeds are fixed:
  // the draws of one seed in some thousands would exceed them.
  EXPECT_TRUE(((mean - expected).abs() <= 5 * deviation + 1e-5).all().item<bool>());
}

TEST_P(ModelCase, InitialWeightsComeFromTheJobsSeedAlone) {
  auto job = job_of(GetParam());
  at::manual_seed(1);
  const auto first = hash_of(Model(job, num_columns, classes).parameters());
  at::manual_seed(2);
  EXPECT_EQ(hash_of(Model(job, num_columns, classes).parameters()), first);
  job.seed = 22;
  EXPECT_NE(hash_of(Model(job, num_columns, classes).parameters()), first);
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

TEST(Models, CopiesHaveTheSameWeightsInMemoryOfTheirOwn) {
  plan::Job job;
  job.fanouts = {3, 3};
  job.hidden = 6;
  job.norm = plan::Norm::batch;
  const Model model(job, num_columns, classes);
  model.state().back().fill_(0.25);  // a running statistic
  const Model copy = model.copied_to(at::kCPU);
  const auto copied = copy.state();
  for (std::size_t i = 0; i < copied.size(); ++i) {
    EXPECT_TRUE(at::equal(copied[i], model.state()[i]));
  }
  const at::NoGradGuard no_grad;
  copied.front().zero_();
  EXPECT_FALSE(at::equal(copied.front(), model.state().front()));
}

}  // namespace
}  // namespace gnomon::nn
