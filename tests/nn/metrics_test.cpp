#include "nn/metrics.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "nn/inference.h"
#include "tests/random_seed.h"

namespace gnomon::nn {
namespace {

using plan::Metric;

/// By the definition: over all pairs of a positive and a negative item.
double brute_force_auc(const std::vector<double>& scores, const std::vector<bool>& is_positive) {
  double won = 0;
  double pairs = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    for (std::size_t j = 0; j < scores.size(); ++j) {
      if (is_positive[i] && !is_positive[j]) {
        ++pairs;
        won += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
      }
    }
  }
  return won / pairs;
}

TEST(RocAuc, IsTheShareOfPairsInOrderWithTies) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = 2 + random() % 60;
    const std::uint64_t values = 1 + random() % 12;  // few values, many ties
    std::vector<double> scores;
    std::vector<bool> is_positive;
    for (std::size_t i = 0; i < count; ++i) {
      scores.push_back(static_cast<double>(random() % values) - 3);
      is_positive.push_back(random() % 3 == 0);
    }
    is_positive[0] = true;
    is_positive[1] = false;
    EXPECT_NEAR(roc_auc(scores, is_positive), brute_force_auc(scores, is_positive), 1e-12);
  }
}

TEST(RocAuc, IsUndefinedWithoutBothKindsOrWithScoresThatAreNone) {
  EXPECT_TRUE(std::isnan(roc_auc(std::vector<double>{1, 2}, {true, true})));
  EXPECT_TRUE(std::isnan(roc_auc(std::vector<double>{1, 2}, {false, false})));
  EXPECT_TRUE(std::isnan(roc_auc({}, {})));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(roc_auc(std::vector<double>{1, nan, 2}, {true, false, false})));
}

std::vector<std::int64_t> all(std::int64_t count) {
  std::vector<std::int64_t> vertices(static_cast<std::size_t>(count));
  std::iota(vertices.begin(), vertices.end(), 0);
  return vertices;
}

/// Logits whose largest one is that of each prediction.
at::Tensor logits_of(const std::vector<std::int64_t>& predictions, std::int64_t classes) {
  return at::one_hot(at::tensor(predictions), classes).to(at::kFloat);
}

TEST(Metrics, HandComputedF1) {
  // Confusion (label → prediction): 0 → 0 0 1, 1 → 1 2, 2 → 2, unlabelled → 0. No vertex has class 3.
  const auto logits = logits_of({0, 0, 1, 1, 2, 2, 0}, 4);
  const std::vector<std::int32_t> labels = {0, 0, 0, 1, 1, 2, -1};
  // F1 of class 0: 2·2/(4+0+1); of 1: 2·1/(2+1+1); of 2: 2·1/(2+1+0).
  const double macro = (4.0 / 5 + 2.0 / 4 + 2.0 / 3) / 3;
  EXPECT_DOUBLE_EQ(measure(Metric::f1_macro, logits, labels, all(7)), macro);
  EXPECT_DOUBLE_EQ(measure(Metric::f1_micro, logits, labels, all(7)), 4.0 / 6);
  EXPECT_DOUBLE_EQ(measure(Metric::accuracy, logits, labels, all(7)), 4.0 / 6);
  // A class that is predicted and never a label counts with 0.
  EXPECT_DOUBLE_EQ(measure(Metric::f1_macro, logits_of({0, 3}, 4), std::vector<std::int32_t>{0, 0}, all(2)),
                   (2.0 / 3 + 0) / 2);
}

TEST(Metrics, RocAucOfTwoClassesIsByTheLogitsDifference) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  const std::int64_t count = 300;
  auto logits = at::empty({count, 2});
  std::vector<std::int32_t> labels;
  std::vector<double> scores;
  std::vector<bool> is_positive;
  for (std::int64_t i = 0; i < count; ++i) {
    logits[i][0] = 30 * normal(random);  // probabilities that fp32 would round to 0 and 1
    logits[i][1] = 30 * normal(random);
    labels.push_back(static_cast<std::int32_t>(random() % 3) - 1);
    if (labels.back() >= 0) {
      scores.push_back(static_cast<double>(logits[i][1].item<float>()) - logits[i][0].item<float>());
      is_positive.push_back(labels.back() == 1);
    }
  }
  EXPECT_NEAR(measure(Metric::roc_auc, logits, labels, all(count)), brute_force_auc(scores, is_positive),
              1e-12);
}

TEST(Metrics, RocAucOfMoreClassesIsTheMeanOfEachAgainstTheRest) {
  const test::RandomSeed seed;
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  const std::int64_t count = 200;
  const auto logits = at::randn({count, 4}, generator);
  const auto probabilities = logits.to(at::kDouble).softmax(1);
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < count; ++i) {
    labels.push_back(static_cast<std::int32_t>(i * i % 3));  // 0 and 1 only, and none of 2 and 3
  }
  labels[0] = 2;
  double sum = 0;
  for (std::int64_t k = 0; k < 3; ++k) {  // class 3 has no vertex
    std::vector<double> scores;
    std::vector<bool> is_positive;
    for (std::int64_t i = 0; i < count; ++i) {
      scores.push_back(probabilities[i][k].item<double>());
      is_positive.push_back(labels[static_cast<std::size_t>(i)] == k);
    }
    sum += brute_force_auc(scores, is_positive);
  }
  EXPECT_NEAR(measure(Metric::roc_auc, logits, labels, all(count)), sum / 3, 1e-12);
}

TEST(Metrics, AccuracyIsThatOfTheScore) {
  const test::RandomSeed seed;
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  const auto logits = at::randn({100, 5}, generator);
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 100; ++i) {
    labels.push_back(i % 6 - 1);
  }
  const auto vertices = all(90);
  const auto values = measure({Metric::f1_micro, Metric::accuracy}, logits, labels, vertices);
  EXPECT_EQ(values[1], score(logits, labels, vertices).accuracy);
  EXPECT_DOUBLE_EQ(values[0], values[1]);
  for (const auto metric : {Metric::accuracy, Metric::roc_auc, Metric::f1_micro, Metric::f1_macro}) {
    EXPECT_TRUE(std::isnan(measure(metric, logits, labels, std::vector<std::int64_t>{0}))) << "no label";
  }
}

TEST(Metrics, TheMajorityIsThatOfTheTrainingVertices) {
  const std::vector<std::int32_t> labels = {2, 2, 0, -1, -1, -1, 0, 0, 2, 1};
  const std::vector<std::int64_t> train = {0, 1, 2, 3, 4, 5};
  const std::vector<std::int64_t> test = {6, 7, 8, 9, 3};
  EXPECT_DOUBLE_EQ(majority_accuracy(labels, train, test), 0.25);
  EXPECT_TRUE(std::isnan(majority_accuracy(labels, train, {})));
}

}  // namespace
}  // namespace gnomon::nn
