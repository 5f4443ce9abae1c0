#include "tuner/surrogate/learned.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "base/error.h"
#include "sim/predict.h"
#include "tests/fixtures/temporary_directory.h"
#include "tuner/search/observed.h"
#include "tuner/surrogate/forecasts.h"

namespace gnomon::tuner {
namespace {

/// One machine, whose stages' times follow from a graph's sizes; graphs and jobs are drawn. Seeds are fixed:
/// the bounds of the tests' errors hold for most sets of graphs, but not for all.
profiles::Profile random_workload(int number) {
  std::mt19937_64 random(static_cast<std::uint64_t>(number) + 1);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto between = [&](double least, double most) {
    return least * std::pow(most / least, uniform(random));
  };
  profiles::Profile profile;
  profile.machine.cpu.cores = 8;
  profile.machine.cpu.copy_bandwidth_bytes_per_s = 5e9;
  profile.machine.cpu.memory_bytes = 6.4e10;
  profile.machine.device.kind = profiles::DeviceKind::cuda;
  profile.machine.device.memory_bytes = 1.6e10;
  profile.machine.link.bandwidth_bytes_per_s = 1.2e10;
  auto& workload = profile.workload;
  workload.graph = "graph " + std::to_string(number);
  workload.vertices = static_cast<std::int64_t>(between(1e5, 1e7));
  workload.edges = static_cast<std::int64_t>(static_cast<double>(workload.vertices) * between(5, 50));
  workload.feature_row_bytes = static_cast<std::int64_t>(between(64, 1024));
  workload.feature_columns = workload.feature_row_bytes / 4;
  workload.job.fanouts = random() % 2 == 0 ? std::vector<int>{10, 10} : std::vector<int>{15, 10, 5};
  workload.job.hidden = random() % 2 == 0 ? 64 : 256;
  workload.batches = 60;
  workload.batch_edges = (workload.job.layers() == 2 ? 1e5 : 8e5) * between(0.5, 1);
  workload.batch_vertices = workload.batch_edges * between(0.3, 0.9);
  const double bytes = workload.batch_vertices * static_cast<double>(workload.feature_row_bytes);
  workload.batch_bytes = bytes + 8 * workload.batch_edges;
  workload.cpu_batch.mean_s = workload.batch_edges * 5e-8 + bytes / 3e9;
  workload.transfer.mean_s = workload.batch_bytes / 1.2e10;
  workload.device_batch.mean_s = workload.batch_edges * 4e-9 + bytes / 1e10;
  workload.device_batch_link_s = bytes / 1.2e10;
  workload.train.mean_s = 1e-3 + workload.batch_vertices * workload.job.hidden * 4e-10 + bytes / 2e11;
  return profile;
}

std::vector<LearnedSample> samples_of(int first, int graphs, int plans) {
  std::vector<LearnedSample> samples;
  for (int number = first; number < first + graphs; ++number) {
    const auto profile = random_workload(number);
    SpaceRequest request;
    request.cores = {8, plan::DeviceKind::cuda, 1};
    request.batches = profile.workload.batches;
    request.constraints.push_back(fits_memory(profile));
    const Space space = make_space(request);
    base::RandomStream random(
        {.seed = 3, .purpose = base::Purpose::test, .epoch = static_cast<std::uint64_t>(number)});
    for (const Point& point : random_points(space, {}, random, static_cast<std::size_t>(plans))) {
      const auto plan = space.plan_at(point);
      samples.push_back(sample_of(profile, plan, sim::predict_quickly(profile, plan)));
    }
  }
  return samples;
}

const Learned& learned() {
  static const Learned model = learn(samples_of(0, 40, 20), 1);
  return model;
}

/// R2 of logarithms on graphs that were never seen.
double r2(const std::vector<LearnedSample>& samples, double LearnedSample::*truth,
          double LearnedForecast::*told) {
  std::vector<std::vector<double>> inputs;
  double mean = 0;
  for (const auto& sample : samples) {
    inputs.push_back(sample.inputs);
    mean += std::log(sample.*truth) / static_cast<double>(samples.size());
  }
  const auto forecasts = forecast(learned(), inputs);
  double errors = 0;
  double distances = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    errors += std::pow(std::log(forecasts[i].*told / samples[i].*truth), 2);
    distances += std::pow(std::log(samples[i].*truth) - mean, 2);
  }
  return 1 - errors / distances;
}

TEST(Learned, TellsThroughputAndMemoryOfGraphsThatItHasNotSeen) {
  const auto others = samples_of(100, 15, 30);
  const double throughput = r2(others, &LearnedSample::batches_per_s, &LearnedForecast::batches_per_s);
  const double memory = r2(others, &LearnedSample::memory_bytes, &LearnedForecast::memory_bytes);
  EXPECT_GE(throughput, 0.9);
  EXPECT_GE(memory, 0.94);
  EXPECT_NEAR(learned().throughput.held_out_r2, throughput, 0.06) << "what the file says of itself";
  EXPECT_NEAR(learned().memory.held_out_r2, memory, 0.08);
}

TEST(Learned, SaysWhichInputsMatter) {
  const auto names = learned_input_names();
  ASSERT_EQ(names.size(), learned().inputs.size());
  double sum = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    sum += learned().throughput.importance[i];
    if (names[i] == "machine.cores") {
      EXPECT_EQ(learned().throughput.importance[i], 0) << "it is always the same";
    }
    if (names[i] == "plan.workers" || names[i] == "graph.feature_row_bytes") {
      EXPECT_GT(learned().throughput.importance[i], 0.001) << names[i];
    }
  }
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST(Learned, FlagsWhatIsBeyondWhatWasLearned) {
  auto profile = random_workload(200);
  const auto plan = sim::resolve_on(profile, plan::find_plan("gnomon"));
  profile.workload.vertices = 2'000'000'000;
  profile.machine.cpu.cores = 4;
  const auto found = forecast(learned(), {learned_inputs(profile, plan)}).front();
  EXPECT_THAT(found.outside, testing::Contains(testing::StartsWith("graph.vertices: 2000000000.0 is over")));
  EXPECT_THAT(found.outside, testing::Contains("machine.cores: 4.0 is under 8.0"));
  EXPECT_GT(found.batches_per_s, 0);
  const auto known = samples_of(0, 1, 1);
  EXPECT_THAT(forecast(learned(), {known[0].inputs}).front().outside, testing::IsEmpty());
}

TEST(Learned, SurvivesAFile) {
  const test::TemporaryDirectory directory;
  const auto path = directory / "learned.json";
  base::write_document(path, learned());
  const auto read = read_learned(path);
  std::vector<std::vector<double>> inputs;
  for (const auto& sample : samples_of(300, 1, 10)) {
    inputs.push_back(sample.inputs);
  }
  const auto before = forecast(learned(), inputs);
  const auto after = forecast(read, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(after[i].batches_per_s, before[i].batches_per_s);
    EXPECT_EQ(after[i].memory_bytes, before[i].memory_bytes);
  }
  auto other = read;
  other.inputs[0].name = "graph.colour";
  base::write_document(path, other);
  EXPECT_THROW(read_learned(path), base::InputError);
}

TEST(Learned, NeedsSeveralGraphs) { EXPECT_THROW(learn(samples_of(0, 4, 5), 1), base::InputError); }

TEST(Learned, ErrorsAreThoseOfGraphsThatItHasNotSeen) {
  const auto profile = random_workload(201);
  const auto plan = sim::resolve_on(profile, plan::find_plan("gnomon"));
  const auto found = forecast(learned(), {learned_inputs(profile, plan)}).front();
  EXPECT_GE(found.batches_per_s_error, learned().throughput.held_out_error.value());
  EXPECT_GE(found.memory_error, learned().memory.held_out_error.value());
}

TEST(Learned, RefusesWhatExplainsNothing) {
  const auto profile = random_workload(202);
  const std::vector<plan::Plan> plans{plan::find_plan("gnomon")};
  auto doubtful = learned();
  EXPECT_THAT(doubts_of(doubtful), testing::IsEmpty());
  doubtful.throughput.held_out_r2 = -0.29;
  const auto refused = forecasts_of(doubtful, profile, plans);
  EXPECT_FALSE(refused.front().epoch_s);
  EXPECT_TRUE(refused.front().memory_bytes);
  EXPECT_THAT(doubts_of(doubtful),
              testing::ElementsAre("throughput is not predicted: on held-out graphs R2 -0.29, no better than "
                                   "the mean of what was learned"));
  EXPECT_FALSE(to_document(refused, doubts_of(doubtful))["rows"][0].contains("epoch_s"));

  const auto usual = forecasts_of(learned(), profile, plans);
  doubtful.throughput.held_out_r2 = 0.3;
  const auto weak = forecasts_of(doubtful, profile, plans);
  EXPECT_EQ(weak.front().epoch_s, usual.front().epoch_s);
  EXPECT_DOUBLE_EQ(weak.front().speed->batches_per_s_error, 2 * usual.front().speed->batches_per_s_error);
  EXPECT_THAT(doubts_of(doubtful), testing::ElementsAre(testing::HasSubstr("errors doubled")));
}

}  // namespace
}  // namespace gnomon::tuner
