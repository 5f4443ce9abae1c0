#include "tuner/surrogate/learned_accuracy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "base/error.h"
#include "tests/fixtures/temporary_directory.h"
#include "tuner/surrogate/learned.h"

namespace gnomon::tuner {
namespace {

GraphSizes graph_of(int number) {
  return {"graph " + std::to_string(number), 10000 * (number + 1), 120000, 64, 6000};
}

plan::Plan biased_plan(double bias, double budget) {
  plan::Plan plan = plan::find_plan("device");
  plan.bias = bias;
  plan.cache.budget = budget;
  plan.cache.policy = plan::CachePolicy::out_degree;
  plan.exact = bias == 1;
  return plan;
}

/// What the recorded trainings reach on average: graphs differ, small fanouts and a strong bias towards few
/// vertices cost accuracy.
double truth(int graph, int fanout, double bias, double budget) {
  return 0.9 - 0.03 * graph - 0.1 / fanout - 0.02 * std::log2(bias) * (1 - budget);
}

plan::Job job_of(int fanout) {
  plan::Job job;
  job.fanouts = {fanout, fanout};
  return job;
}

/// The seed is fixed: the bounds of the tests' errors hold for most noise, but not for all.
std::vector<RecordedRun> recorded_runs(int graphs) {
  std::mt19937_64 random(17);
  std::normal_distribution<double> noise(0, 0.003);
  std::vector<RecordedRun> runs;
  for (int graph = 0; graph < graphs; ++graph) {
    for (const int fanout : {2, 5, 10}) {
      for (const double bias : {1, 2, 4, 8, 16}) {
        for (const double budget : {0.1, 0.4, 0.7}) {
          for (int seed = 0; seed < 2; ++seed) {
            runs.push_back({graph_of(graph), job_of(fanout), biased_plan(bias, budget),
                            truth(graph, fanout, bias, budget) + noise(random)});
            runs.back().job.seed = static_cast<std::uint64_t>(seed);
          }
        }
      }
    }
  }
  return runs;
}

const LearnedAccuracy& learned_accuracy() {
  static const LearnedAccuracy model = learn_accuracy(recorded_runs(3), 1);
  return model;
}

AccuracyPredictor predictor_of(int graph, int fanout) {
  return {learned_accuracy(), graph_of(graph), job_of(fanout)};
}

TEST(LearnedAccuracy, FindsAKnownLandscapeAndItsOwnError) {
  double squares = 0;
  int count = 0;
  for (int graph = 0; graph < 3; ++graph) {
    for (const int fanout : {2, 5, 10}) {
      for (const double bias : {1, 3, 6, 12}) {
        const auto found = predictor_of(graph, fanout).of(biased_plan(bias, 0.4));
        EXPECT_THAT(found.outside, testing::IsEmpty());
        EXPECT_EQ(found.error, learned_accuracy().known_error);
        squares += std::pow(found.accuracy - truth(graph, fanout, bias, 0.4), 2);
        ++count;
      }
    }
  }
  EXPECT_LT(std::sqrt(squares / count), 0.015);
  EXPECT_GT(learned_accuracy().model.held_out_r2, 0.9);
  EXPECT_LT(learned_accuracy().known_error, 0.02);
  EXPECT_GT(learned_accuracy().known_error, 0.002) << "no less than the runs' own noise";
  EXPECT_GT(learned_accuracy().unseen_error.value(), learned_accuracy().known_error);
}

TEST(LearnedAccuracy, SaysWhichInputsMatter) {
  const auto names = accuracy_input_names();
  ASSERT_EQ(names.size(), learned_accuracy().inputs.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "plan.bias" || names[i] == "job.sampled_share") {
      EXPECT_GT(learned_accuracy().model.importance[i], 0.05) << names[i];
    } else if (names[i] == "job.hidden" || names[i] == "plan.super_batch") {
      EXPECT_EQ(learned_accuracy().model.importance[i], 0) << names[i];
    }
  }
}

TEST(LearnedAccuracy, ExactPlansAreAllAlike) {
  const auto expected = accuracy_inputs(graph_of(0), job_of(5), {});
  for (const auto& preset : plan::presets()) {
    const auto inputs = accuracy_inputs(graph_of(0), job_of(5), preset);
    EXPECT_EQ(inputs == expected, !plan::changes_training(preset)) << preset.name;
  }
}

TEST(LearnedAccuracy, FlagsWhatIsBeyondWhatWasLearned) {
  const auto predictor = predictor_of(0, 5);
  EXPECT_THAT(predictor.of(biased_plan(64, 0.4)).outside,
              testing::ElementsAre("plan.bias: 64.0 is over 16.0"));
  EXPECT_THAT(predictor.of(plan::find_plan("gas")).outside,
              testing::Contains(testing::StartsWith("plan.embeddings.reuse")));
  const auto unseen = AccuracyPredictor(learned_accuracy(), {"other", 15000, 120000, 64, 6000}, job_of(5));
  EXPECT_EQ(unseen.of({}).error, learned_accuracy().unseen_error.value());
  const auto single = learn_accuracy(recorded_runs(1), 1);
  EXPECT_FALSE(single.unseen_error.has_value());
  EXPECT_THAT(AccuracyPredictor(single, {"other", 10000, 120000, 64, 6000}, job_of(5)).of({}).outside,
              testing::ElementsAre(testing::HasSubstr("\"other\" is another one")));
}

TEST(LearnedAccuracy, FloorKeepsExactPlansAndWhatIsPredictedToReachIt) {
  const double floor = truth(0, 5, 3, 0.1);  // between the accuracies of bias 2 and 4
  const auto constraint = accurate(predictor_of(0, 5), floor);
  EXPECT_EQ(constraint.why_not(biased_plan(1, 0.1)), "");
  EXPECT_EQ(constraint.why_not(biased_plan(2, 0.1)), "");
  EXPECT_THAT(constraint.why_not(biased_plan(16, 0.1)), testing::HasSubstr("under the floor"));
  EXPECT_THAT(constraint.why_not(plan::find_plan("gas")), testing::HasSubstr("was not learned"));
  EXPECT_EQ(accurate(predictor_of(0, 5), 1).why_not(plan::find_plan("gnomon")), "");
}

TEST(LearnedAccuracy, KindsThatWereNotLearnedAreLeftOutOfASpace) {
  const auto constraint = accuracy_known(predictor_of(0, 5));
  EXPECT_TRUE(constraint.by_field);
  for (const auto& preset : plan::presets()) {
    const bool is_other =
        preset.embeddings.reuse != plan::Reuse::none || preset.schedule == plan::Schedule::macro_batch;
    EXPECT_EQ(constraint.why_not(preset).empty(), !is_other) << preset.name;
  }
}

TEST(LearnedAccuracy, TooFewRunsAreRefused) {
  auto runs = recorded_runs(1);
  runs.resize(9);
  EXPECT_THROW(learn_accuracy(runs, 1), base::InputError);
  runs = std::vector<RecordedRun>(20, runs.front());
  EXPECT_THROW(learn_accuracy(runs, 1), base::InputError);
}

TEST(LearnedAccuracy, SurvivesAFileWithoutSpeed) {
  const test::TemporaryDirectory directory;
  const auto path = directory / "learned.json";
  Learned file;
  file.accuracy = learned_accuracy();
  base::write_document(path, file);
  const auto read = read_learned(path);
  EXPECT_FALSE(read.has_speed());
  const AccuracyPredictor again(read.accuracy.value(), graph_of(1), job_of(2));
  for (const double bias : {1, 2, 5, 16}) {
    EXPECT_EQ(again.of(biased_plan(bias, 0.5)).accuracy,
              predictor_of(1, 2).of(biased_plan(bias, 0.5)).accuracy);
  }
  file.accuracy->inputs[0].name = "graph.colour";
  base::write_document(path, file);
  EXPECT_THROW(read_learned(path), base::InputError);
}

/// Runs whose accuracy is independent of their inputs. The seed is fixed: some noise can be explained by
/// chance.
std::vector<RecordedRun> runs_of_noise() {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0.7, 0.05);
  auto runs = recorded_runs(1);
  for (auto& run : runs) {
    run.accuracy = noise(random);
  }
  return runs;
}

TEST(LearnedAccuracy, DoubtsAModelThatExplainsNothing) {
  const auto noise = learn_accuracy(runs_of_noise(), 1);
  ASSERT_LE(noise.model.held_out_r2, 0);
  EXPECT_EQ(trust_of(noise.model), Trust::none);
  EXPECT_THAT(accuracy_doubt(noise), testing::HasSubstr("no better than the mean of what was learned"));
  EXPECT_EQ(accuracy_doubt(learned_accuracy()), "");

  const AccuracyPredictor doubtful(noise, graph_of(0), job_of(5));
  EXPECT_EQ(doubtful.doubt(), accuracy_doubt(noise));
  const auto forecast = doubtful.of(biased_plan(4, 0.4));
  EXPECT_DOUBLE_EQ(forecast.error, 2 * noise.known_error);
  EXPECT_DOUBLE_EQ(forecast.reliable(), forecast.accuracy - forecast.error);
  // A floor that the prediction reaches but its lower end does not.
  const double floor = forecast.accuracy - forecast.error / 2;
  EXPECT_THAT(accurate(doubtful, floor).why_not(biased_plan(4, 0.4)), testing::HasSubstr("under the floor"));
  EXPECT_EQ(accurate(doubtful, forecast.reliable() - 1e-6).why_not(biased_plan(4, 0.4)), "");

  const auto sure = predictor_of(0, 5).of(biased_plan(4, 0.4));
  EXPECT_DOUBLE_EQ(sure.reliable(), sure.accuracy);
}

TEST(LearnedAccuracy, NamesRunsAtTheMajoritysShare) {
  EXPECT_FALSE(is_at_majority(0.2, std::nullopt));
  EXPECT_TRUE(is_at_majority(0.205, 0.2));
  EXPECT_FALSE(is_at_majority(0.25, 0.2));
  auto runs = recorded_runs(2);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].majority_share = runs[i].graph.name == "graph 0" ? 0.2 : 0.95;
  }
  const auto found = learn_accuracy(runs, 1);
  EXPECT_EQ(found.runs_at_majority, std::ssize(runs) / 2);
  EXPECT_FALSE(is_at_majority(0.9, AccuracyPredictor(found, graph_of(0), job_of(5)).of({}).majority_share));
  const auto forecast = AccuracyPredictor(found, graph_of(1), job_of(5)).of({});
  EXPECT_EQ(forecast.majority_share, 0.95);
  EXPECT_TRUE(is_at_majority(forecast.accuracy, forecast.majority_share));
}

}  // namespace
}  // namespace gnomon::tuner
