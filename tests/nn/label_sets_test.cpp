#include "nn/label_sets.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "graph/store/builder.h"
#include "nn/dense/chunks.h"
#include "nn/metrics.h"
#include "tests/random_seed.h"

namespace gnomon::nn {
namespace {

using plan::Metric;

at::Generator generator_of(std::uint64_t seed) { return at::make_generator<at::CPUGeneratorImpl>(seed); }

/// Random label sets, and the sets of some seeds.
StepTargets random_targets(std::int64_t seeds, std::int64_t sets, std::int64_t classes,
                           at::Generator generator) {
  return {at::randint(sets, {seeds}, generator, at::kLong),
          at::randint(2, {sets, classes}, generator, at::kByte)};
}

TEST(LabelSetsLoss, IsThatOfAtenWithItsGradient) {
  const test::RandomSeed seed;
  auto generator = generator_of(seed);
  for (const auto& [seeds, classes] : {std::pair{1, 1}, {7, 3}, {64, 112}, {513, 40}}) {
    const auto targets = random_targets(seeds, 9, classes, generator);
    const auto logits = (at::randn({seeds, classes}, generator) * 6).requires_grad_();
    const auto wanted = targets.label_sets.index_select(0, targets.labels).to(at::kDouble);
    const auto expected = at::binary_cross_entropy_with_logits(logits.to(at::kDouble), wanted);
    expected.backward();
    const auto found = label_sets_loss(logits.detach(), targets);
    EXPECT_NEAR(found.metrics.loss.item<double>(), expected.item<double>(), 1e-6 * expected.item<double>());
    EXPECT_TRUE(at::allclose(found.gradient, logits.grad(), 1e-5, 1e-9)) << seeds << " x " << classes;
    const auto correct = logits.gt(0).eq(wanted.to(at::kBool)).all(1).sum();
    EXPECT_EQ(found.metrics.correct.item<std::int64_t>(), correct.item<std::int64_t>());
    EXPECT_EQ(found.metrics.seeds, seeds);
  }
}

TEST(LabelSetsLoss, IsFiniteForLargeLogitsAndNotANumberForNone) {
  const auto logits = at::tensor({200.F, -200.F, 200.F, -200.F}).view({1, 4});
  const StepTargets targets{at::zeros({1}, at::kLong), at::tensor({1, 0, 0, 1}, at::kByte).view({1, 4})};
  const auto loss = label_sets_loss(logits, targets);
  EXPECT_DOUBLE_EQ(loss.metrics.loss.item<double>(), 100);  // two of four are wrong by 200
  EXPECT_TRUE(at::equal(loss.gradient, at::tensor({0.F, 0.F, 0.25F, -0.25F}).view({1, 4})));
  const auto none = label_sets_loss(at::full({1, 4}, std::numeric_limits<float>::quiet_NaN()), targets);
  EXPECT_TRUE(std::isnan(none.metrics.loss.item<double>()));
  EXPECT_EQ(none.metrics.correct.item<std::int64_t>(), 0);
}

TEST(LabelSetsLoss, HasTheSameBitsOnAnyNumberOfThreads) {
  const test::RandomSeed seed;
  auto generator = generator_of(seed);
  const auto targets = random_targets(3000, 200, 50, generator);
  const auto logits = at::randn({3000, 50}, generator);
  std::vector<LabelSetsLoss> losses;
  for (const int threads : {1, 2, 3}) {
    const AtenThreadsGuard guard(threads);
    losses.push_back(label_sets_loss(logits, targets));
  }
  for (const auto& loss : losses) {
    EXPECT_TRUE(at::equal(loss.gradient, losses.front().gradient));
    EXPECT_EQ(loss.metrics.loss.item<double>(), losses.front().metrics.loss.item<double>());
  }
}

/// Without edges: vertex v has the label labels[v], a row of `sets`.
graph::Graph graph_of(std::vector<std::int32_t> labels, std::vector<std::uint8_t> sets,
                      std::int32_t classes) {
  graph::GraphParts parts;
  parts.num_vertices = std::ssize(labels);
  parts.labels = std::move(labels);
  parts.label_sets = std::move(sets);
  parts.num_classes = classes;
  return graph::make_graph(std::move(parts));
}

std::vector<graph::VertexId> all_of(const graph::Graph& graph) {
  std::vector<graph::VertexId> vertices(static_cast<std::size_t>(graph.num_vertices()));
  std::iota(vertices.begin(), vertices.end(), 0);
  return vertices;
}

TEST(LabelSetMetrics, HandComputed) {
  // Sets {0, 1}, {} and {2}; no vertex has class 3. The last vertex is unlabelled.
  const auto graph = graph_of({0, 1, 2, 0, -1}, {1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0}, 4);
  const auto predicted = at::tensor({1, 1, 0, 0,   // as it is
                                     0, 0, 0, 0,   // as it is
                                     1, 0, 1, 0,   // class 0 is wrong
                                     0, 1, 0, 0,   // class 0 is missing
                                     1, 1, 1, 1})  // does not count
                             .view({5, 4});
  const auto logits = predicted.to(at::kFloat) * 4 - 2;
  const auto values =
      measure({Metric::accuracy, Metric::f1_micro, Metric::f1_macro}, logits, graph, all_of(graph));
  EXPECT_DOUBLE_EQ(values[0], 2.0 / 4);
  EXPECT_DOUBLE_EQ(values[1], 2.0 * 4 / (2 * 4 + 1 + 1));  // 4 of 5 classes are found, and one that is none
  // Class 0: 1 found, 1 wrong, 1 missing; classes 1 and 2 are right; class 3 does not occur.
  EXPECT_DOUBLE_EQ(values[2], (0.5 + 1 + 1 + 0) / 4);
  const auto of_score = score(logits, graph, all_of(graph));
  EXPECT_EQ(of_score.accuracy, values[0]);
  // 14 of 16 decisions are right, each with a logit of 2.
  EXPECT_NEAR(of_score.loss, (14 * std::log1p(std::exp(-2.0)) + 2 * (2 + std::log1p(std::exp(-2.0)))) / 16,
              1e-6);
  // The most frequent set among three vertices is that of two of them.
  const std::vector<graph::VertexId> train{0, 3, 1};
  EXPECT_DOUBLE_EQ(majority_accuracy(graph.labels, train, all_of(graph)), 2.0 / 4);
}

TEST(LabelSetMetrics, RocAucIsTheMeanOverTheClassesThatHaveBoth) {
  const test::RandomSeed seed;
  auto generator = generator_of(seed);
  // Class 2 has no vertex, class 3 all.
  const auto graph = graph_of({0, 1, 2, 0, 1, 2, 3, -1}, {1, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1}, 4);
  const auto logits = at::randn({8, 4}, generator);
  double sum = 0;
  for (std::int64_t c = 0; c < 2; ++c) {
    std::vector<double> scores;
    std::vector<bool> has_class;
    for (std::int64_t v = 0; v < 7; ++v) {
      scores.push_back(logits[v][c].item<double>());
      has_class.push_back(
          graph.label_sets[static_cast<std::size_t>(graph.labels[static_cast<std::size_t>(v)] * 4 + c)] != 0);
    }
    sum += roc_auc(scores, has_class);
  }
  EXPECT_DOUBLE_EQ(measure({Metric::roc_auc}, logits, graph, all_of(graph)).front(), sum / 2);
}

TEST(LabelSetMetrics, AreNotANumberWithoutLabels) {
  const auto graph = graph_of({-1, -1}, {1, 0}, 2);
  const std::vector metrics{Metric::accuracy, Metric::roc_auc, Metric::f1_micro, Metric::f1_macro};
  for (const double value : measure(metrics, at::zeros({2, 2}), graph, all_of(graph))) {
    EXPECT_TRUE(std::isnan(value));
  }
  EXPECT_TRUE(std::isnan(score(at::zeros({2, 2}), graph, all_of(graph)).loss));
}

TEST(PredictedClasses, AreThoseAboveAProbabilityOfOneHalf) {
  const auto logits = at::tensor({1.F, -1.F, 0.5F, -3.F, 0.F, -1.F, -2.F, 2.F, -1.F}).view({3, 3});
  const auto several = predicted_classes(logits, true);
  ASSERT_EQ(several.vertices(), 3U);
  const auto classes_of = [&](std::size_t vertex) {
    const auto of = several.of(vertex);
    return std::vector<std::int32_t>(of.begin(), of.end());
  };
  EXPECT_EQ(classes_of(0), (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(classes_of(1), (std::vector<std::int32_t>{}));
  EXPECT_EQ(classes_of(2), (std::vector<std::int32_t>{1}));
  const auto one = predicted_classes(logits, false);
  ASSERT_EQ(one.vertices(), 3U);
  EXPECT_EQ(one.of(2).front(), 1);
}

}  // namespace
}  // namespace gnomon::nn
