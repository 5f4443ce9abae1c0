#include "runtime/training/history.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "runtime/emulated/emulated_device.h"
#include "runtime/stages.h"
#include "runtime/training/history_step.h"
#include "tests/runtime/emulated/emulated_options.h"
#include "tests/runtime/test_runs.h"

// Training with historical embeddings of all vertices (GNNAutoScale).

namespace gnomon::runtime {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

plan::Plan gas_plan(int workers = 1, int device_threads = 1) {
  auto plan = plan::find_plan("gas");
  plan.workers = workers;
  plan.device_threads = device_threads;
  return plan;
}

plan::Plan sequential_gas() {
  auto plan = gas_plan();
  plan.schedule = plan::Schedule::sequential;
  return plan;
}

plan::Job job_with_all_neighbours(plan::ModelKind model, int layers, int batch_size) {
  auto job = small_job(model);
  job.fanouts.assign(static_cast<std::size_t>(layers), -1);
  job.batch_size = batch_size;
  job.hidden = 8;
  job.dropout = 0;
  return job;
}

TrainReport run(const graph::Graph& graph, const plan::Job& job, const plan::Plan& plan,
                const DeviceOptions& device = {}) {
  TrainOptions options{.job = job, .plan = plan};
  options.device = device;
  return train(graph, options);
}

// The same training in double precision, on dense matrices.

class Reference {
 public:
  Reference(const graph::Graph& graph, const plan::Job& job) : graph_(graph), job_(job) {
    const nn::Learner learner(job, graph.features.columns, graph.num_classes);
    for (const auto& weight : learner.model().parameters()) {
      weights_.push_back(weight.detach().to(at::kDouble).clone().requires_grad_());
      first_.push_back(at::zeros_like(weights_.back()));
      second_.push_back(at::zeros_like(weights_.back()));
    }
    const auto count = graph.num_vertices();
    features_ = nn::feature_tensor(graph.features.data, graph.features.type, count, graph.features.columns)
                    .to(at::kDouble);
    adjacency_ = at::zeros({count, count}, at::kDouble);
    for (std::int64_t v = 0; v < count; ++v) {
      for (auto edge = graph.indptr[at(v)]; edge < graph.indptr[at(v + 1)]; ++edge) {
        adjacency_[v][graph.indices[at(edge)]] += 1;
      }
    }
    auto x = features_;
    for (int layer = 0; layer + 1 < job.layers(); ++layer) {
      x = relu(outputs(layer, x)).detach();
      history_.push_back(x);
    }
  }

  void step(std::vector<graph::VertexId> vertices) {
    const auto seeds = at::tensor(vertices, at::kLong);
    auto x = features_;
    std::vector<at::Tensor> pushed;
    for (int layer = 0; layer < job_.layers(); ++layer) {
      x = outputs(layer, x).index_select(0, seeds);
      if (layer + 1 < job_.layers()) {
        x = relu(x);
        pushed.push_back(x.detach());
        x = history_[at(layer)].index_copy(0, seeds, x);
      }
    }
    for (std::size_t layer = 0; layer < pushed.size(); ++layer) {
      history_[layer] = history_[layer].index_copy(0, seeds, pushed[layer]);
    }
    std::vector<std::int64_t> rows, labels;
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      if (std::find(graph_.train.begin(), graph_.train.end(), vertices[i]) != graph_.train.end()) {
        rows.push_back(static_cast<std::int64_t>(i));
        labels.push_back(graph_.labels[at(vertices[i])]);
      }
    }
    if (!rows.empty()) {
      const auto logs = x.index_select(0, at::tensor(rows, at::kLong)).log_softmax(1);
      update(-logs.gather(1, at::tensor(labels, at::kLong).unsqueeze(1)).mean());
    }
  }

  const std::vector<at::Tensor>& weights() const { return weights_; }

 private:
  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
  static at::Tensor relu(const at::Tensor& x) { return x.clamp_min(0); }

  at::Tensor outputs(int layer, const at::Tensor& x) const {
    const auto degrees = adjacency_.sum(1);
    if (job_.model == plan::ModelKind::sage) {
      const auto* own = &weights_[3 * at(layer)];
      const auto mean = adjacency_.matmul(x) / degrees.clamp_min(1).unsqueeze(1);
      return x.matmul(own[0]) + mean.matmul(own[1]) + own[2];
    }
    const auto* own = &weights_[2 * at(layer)];
    const auto roots = (degrees + 1).rsqrt().unsqueeze(1);
    const auto loops = adjacency_ + at::eye(adjacency_.size(0), at::kDouble);
    return (roots * loops.matmul(roots * x)).matmul(own[0]) + own[1];
  }

  /// Adam (Kingma and Ba, ICLR 2015).
  void update(const at::Tensor& loss) {
    for (auto& weight : weights_) {
      weight.mutable_grad() = at::Tensor();
    }
    loss.backward();
    const at::NoGradGuard no_grad;
    ++steps_;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const auto gradient = weights_[i].grad() + job_.weight_decay * weights_[i];
      first_[i] = 0.9 * first_[i] + 0.1 * gradient;
      second_[i] = 0.999 * second_[i] + 0.001 * gradient.square();
      const auto mean = first_[i] / (1 - std::pow(0.9, steps_));
      const auto deviation = (second_[i] / (1 - std::pow(0.999, steps_))).sqrt() + 1e-8;
      weights_[i].sub_(plan::learning_rate(job_, 0) * mean / deviation);
    }
  }

  const graph::Graph& graph_;
  const plan::Job job_;
  std::vector<at::Tensor> weights_, first_, second_;
  at::Tensor features_, adjacency_;
  std::vector<at::Tensor> history_;
  int steps_ = 0;
};

/// The weights after some mini-batches of the first epoch.
std::vector<at::Tensor> weights_after(const graph::Graph& graph, const plan::Job& job, std::int64_t batches) {
  TrainOptions options{.job = job, .plan = sequential_gas()};
  options.job.epochs = 1;
  const test::TemporaryDirectory directory;
  options.run_directory = directory.path();
  std::atomic<bool> stop = false;
  options.stop = &stop;
  options.progress = [&](std::string_view, std::int64_t done, std::int64_t) { stop = done == batches - 1; };
  EXPECT_THROW(train(graph, options), base::Interrupted);
  RunState state;
  state.job = options.job;
  state.graph = mark_of(graph);
  nn::Learner learner(job, graph.features.columns, graph.num_classes);
  read_checkpoint(checkpoint_path(directory.path()), state, learner);
  EXPECT_EQ(std::ssize(state.trained), batches);
  std::vector<at::Tensor> weights;
  for (const auto& weight : learner.model().parameters()) {
    weights.push_back(weight.detach().clone());
  }
  return weights;
}

void expect_near(const std::vector<at::Tensor>& found, const std::vector<at::Tensor>& expected,
                 double error) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto difference = (found[i].to(at::kDouble) - expected[i].detach()).abs().max().item<double>();
    EXPECT_LT(difference, error) << "weight " << i;
  }
}

struct LayersCase {
  plan::ModelKind model;
  int layers;
};

class HistoryReference : public testing::TestWithParam<LayersCase> {};

TEST_P(HistoryReference, TrainsAsInDoublePrecision) {
  const auto graph = test::planted_graph(60, 12);
  const auto job = job_with_all_neighbours(GetParam().model, GetParam().layers, 16);
  const auto all = with_all_as_seeds(graph);
  const auto order = graph::epoch_order(all.train, job.seed, 0);
  for (const std::int64_t batches : {2, 3}) {
    Reference reference(graph, job);
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      const auto seeds = graph::batch_seeds(order, job.batch_size, batch);
      reference.step({seeds.begin(), seeds.end()});
    }
    expect_near(weights_after(graph, job, batches), reference.weights(), 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, HistoryReference,
    testing::Values(LayersCase{plan::ModelKind::sage, 2}, LayersCase{plan::ModelKind::sage, 3},
                    LayersCase{plan::ModelKind::gcn, 2}, LayersCase{plan::ModelKind::gcn, 3},
                    LayersCase{plan::ModelKind::gcn, 1}),
    [](const auto& named) {
      return std::string(base::name_of(named.param.model)) + std::to_string(named.param.layers);
    });

/// Without a halo there is no history: one mini-batch of all vertices is full-batch training.
TEST(HistoryTraining, OfTheWholeGraphInOneMiniBatchIsExact) {
  const auto graph = test::planted_graph(300, 12);
  for (const auto model : {plan::ModelKind::sage, plan::ModelKind::gcn, plan::ModelKind::gat}) {
    const auto job = job_with_all_neighbours(model, 3, 300);
    const auto exact = run(graph, job, sequential_plan());
    const auto found = run(graph, job, sequential_gas());
    ASSERT_EQ(found.epochs.size(), exact.epochs.size());
    for (std::size_t i = 0; i < exact.epochs.size(); ++i) {
      EXPECT_NEAR(found.epochs[i].loss, exact.epochs[i].loss, 1e-4);
      EXPECT_NEAR(found.epochs[i].valid_loss, exact.epochs[i].valid_loss, 1e-4);
      EXPECT_EQ(found.epochs[i].history, Staleness{});
    }
  }
}

struct HistorySetting {
  plan::ModelKind model;
  plan::Norm norm;
  bool skip;
};

class HistoryBits : public testing::TestWithParam<HistorySetting> {};

TEST_P(HistoryBits, DependNeitherOnThreadsNorOnTimingNorOnTheDevice) {
  const auto graph = test::planted_graph(700, 24);
  auto job = small_job(GetParam().model);
  job.fanouts = {6, 5, 4};
  job.batch_size = 100;
  job.dropout = 0.4;
  job.norm = GetParam().norm;
  job.skip = GetParam().skip;
  const auto expected = run(graph, job, sequential_gas());
  for (int threads = 1; threads <= 3; ++threads) {
    TrainOptions options{.job = job, .plan = gas_plan(threads, 4 - threads)};
    options.plan.worker_threads = threads == 2 ? 2 : 1;
    options.plan.gather = threads == 3 ? plan::Gather::trainer : plan::Gather::sampler;
    options.plan.fused = threads == 2;
    options.device = threads == 1 ? DeviceOptions{} : emulated_options();
    options.before_stage = random_delays(static_cast<std::uint64_t>(threads));
    const auto found = train(graph, options);
    EXPECT_EQ(found.weights_hash, expected.weights_hash) << threads;
    EXPECT_EQ(found.epochs.back().history, expected.epochs.back().history);
  }
  EXPECT_NE(run(graph, job, sequential_plan()).weights_hash, expected.weights_hash);
}

INSTANTIATE_TEST_SUITE_P(Models, HistoryBits,
                         testing::Values(HistorySetting{plan::ModelKind::sage, plan::Norm::none, false},
                                         HistorySetting{plan::ModelKind::gcn, plan::Norm::batch, true},
                                         HistorySetting{plan::ModelKind::gat, plan::Norm::layer, false}),
                         [](const auto& named) { return std::string(base::name_of(named.param.model)); });

TEST(HistoryTraining, ReplaysTheOrderInWhichBatchesWereReady) {
  const auto graph = test::planted_graph(700, 24);
  const auto job = small_job(plan::ModelKind::gcn);
  TrainOptions options{.job = job, .plan = gas_plan(3)};
  options.plan.order = plan::Order::as_ready;
  options.before_stage = random_delays(9);
  const auto report = train(graph, options);
  options.before_stage = {};
  for (const auto& epoch : report.epochs) {
    options.replay.push_back(epoch.log.trained);
  }
  EXPECT_EQ(train(graph, options).weights_hash, report.weights_hash);
}

/// The ages of what an epoch pulls, by playing it again. Every mini-batch updates the weights.
TEST(HistoryTraining, NotesHowOldItsEmbeddingsAre) {
  const auto graph = test::planted_graph(700, 24);
  auto job = small_job(plan::ModelKind::sage);
  job.batch_size = 100;
  const auto report = run(graph, job, gas_plan(2));
  const auto all = with_all_as_seeds(graph);
  kernels::cpu::Sampler sampler(all, {job.fanouts.front()});
  kernels::MiniBatch batch;
  std::vector<std::int64_t> pushed_at(700);
  std::int64_t updates = 0;
  for (const auto& epoch : report.epochs) {
    const auto number = static_cast<std::uint64_t>(epoch.epoch);
    const auto order = graph::epoch_order(all.train, job.seed, number);
    Staleness expected;
    for (std::uint64_t i = 0; i < 7; ++i) {
      sampler.sample({job.seed, number, i}, graph::batch_seeds(order, job.batch_size, static_cast<int>(i)),
                     batch);
      for (std::size_t v = 0; v < batch.vertices.size(); ++v) {
        auto& pushed = pushed_at[static_cast<std::size_t>(batch.vertices[v])];
        if (v >= 100) {
          ++expected.rows;
          expected.sum += updates - pushed;
          expected.max = std::max(expected.max, updates - pushed);
        } else {
          pushed = updates;
        }
      }
      ++updates;
    }
    EXPECT_EQ(epoch.history, expected);
    EXPECT_GT(expected.max, 5);
    EXPECT_LT(expected.max, 14) << "every vertex is pushed in each epoch";
  }
}

TEST(HistoryTraining, ResumesToTheSameBitsAndOnlyAsItBegan) {
  const auto graph = test::planted_graph(700, 24);
  const test::TemporaryDirectory directory;
  TrainOptions options{.job = small_job(plan::ModelKind::gcn), .plan = gas_plan(2)};
  options.job.dropout = 0.3;
  const auto expected = train(graph, options);
  options.run_directory = directory.path();
  options.resume = true;
  std::atomic<bool> stop = false;
  options.stop = &stop;
  options.progress = [&](std::string_view, std::int64_t done, std::int64_t) { stop = done == 9; };
  EXPECT_THROW(train(graph, options), base::Interrupted);
  stop = false;
  options.progress = {};
  auto exact = options;
  exact.plan = sequential_plan();
  EXPECT_THAT(
      [&] { train(graph, exact); },
      ThrowsMessage<base::InputError>(HasSubstr("embeddings.reuse: the run was started with \"all\"")));
  const auto found = train(graph, options);
  EXPECT_EQ(found.weights_hash, expected.weights_hash);
  EXPECT_EQ(found.epochs.front().history, expected.epochs.front().history);
}

TEST(HistoryTraining, CanBeStoppedWhileItsEmbeddingsBegin) {
  const test::TemporaryDirectory directory;
  TrainOptions options{.job = small_job(plan::ModelKind::sage), .plan = gas_plan()};
  const auto expected = train(graph_of_tests(), options).weights_hash;
  options.run_directory = directory.path();
  options.resume = true;
  std::atomic<bool> stop = true;
  options.stop = &stop;
  EXPECT_THROW(train(graph_of_tests(), options), base::Interrupted);
  stop = false;
  EXPECT_EQ(train(graph_of_tests(), options).weights_hash, expected);
}

TEST(HistoryTraining, DoesNotGoOnFromAnExactRun) {
  const auto graph = test::planted_graph(300, 24);
  const test::TemporaryDirectory directory;
  TrainOptions options{.job = small_job(plan::ModelKind::gcn), .plan = sequential_plan()};
  options.run_directory = directory.path();
  train(graph, options);
  options.resume = true;
  options.plan = gas_plan();
  options.job.epochs = 3;
  EXPECT_THAT([&] { train(graph, options); },
              ThrowsMessage<base::InputError>(HasSubstr("was started without historical embeddings")));
}

TEST(HistoryTraining, LearnsWhatThePlanThatItApproximatesLearns) {
  const auto graph = test::planted_graph(1500, 16);
  auto job = small_job(plan::ModelKind::sage);
  job.epochs = 8;
  const auto exact = run(graph, job, sequential_plan());
  const auto found = run(graph, job, gas_plan());
  EXPECT_GT(exact.test_accuracy, 0.8);
  EXPECT_GT(found.test_accuracy, exact.test_accuracy - 0.03);
}

TEST(HistoryTraining, EmbeddingsCrossTheLinkOnce) {
  emulated::EmulatedDevice device(small_job(plan::ModelKind::sage), emulated_options(), {});
  const auto rows = at::ones({3, 8});
  EXPECT_TRUE(device.pull([&] { return rows; }).equal(rows));
  EXPECT_EQ(device.link_use().copied_bytes, 96);
  EXPECT_TRUE(device.push(rows).equal(rows));
  EXPECT_EQ(device.link_use().copied_bytes, 192);
}

TEST(AllAsSeeds, KeepTheLabelsOfTrainingVerticesOnly) {
  const auto graph = test::planted_graph(300, 8);
  const auto all = with_all_as_seeds(graph);
  std::vector<graph::VertexId> expected(300);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_TRUE(std::equal(all.train.begin(), all.train.end(), expected.begin(), expected.end()));
  for (graph::VertexId v = 0; v < 300; ++v) {
    const bool trains = std::find(graph.train.begin(), graph.train.end(), v) != graph.train.end();
    const auto index = static_cast<std::size_t>(v);
    EXPECT_EQ(all.labels[index], trains ? graph.labels[index] : -1);
  }
}

}  // namespace
}  // namespace gnomon::runtime
