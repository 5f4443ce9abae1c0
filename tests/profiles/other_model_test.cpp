#include "profiles/other_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "profiles/stage_work.h"
#include "tests/fixtures/profiles.h"
#include "tests/fixtures/speeds.h"

namespace gnomon::profiles {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// On a machine that does any amount of work in a time of its own, however large.
Profile measured() {
  auto profile = test::profile_of(DeviceKind::host, 2, 30, {0.02, 0, 0.02, 0.04});
  auto& workload = profile.workload;
  workload.train = {
      .mean_s = 0.04, .deviation_s = 0.004, .p5_s = 0.03, .p50_s = 0.039, .p95_s = 0.05, .interval_s = 0.001};
  workload.vertices = 1000;
  workload.edges = 9000;
  workload.feature_columns = 64;
  workload.feature_row_bytes = 256;
  workload.batch_vertices = 500;
  workload.batch_edges = 2000;
  workload.hops = {{20, 400}, {200, 1600}};
  workload.job.fanouts = {20, 8};
  workload.job.hidden = 32;
  workload.parts.refresh_s = 0.01;
  workload.parts.update_s = 0.001;
  workload.parts.parameter_bytes = 1000;
  workload.parts.activation_bytes = 1e6;
  workload.evaluation = EvaluationProfile{.time_s = 3, .host_bytes = 96};
  profile.machine_speeds = test::uniform_speeds(1e9);
  return profile;
}

double counts_of(const Profile& profile) {
  double sum = 0;
  for (const auto& amount : training_work(profile.workload)) {
    sum += amount.count;
  }
  return sum;
}

TEST(OtherModel, TrainingTakesWhatCountsTakeByTheMachinesSpeeds) {
  const auto before = measured();
  auto job = before.workload.job;
  job.hidden = 128;
  const auto after = with_model(before, job, "hidden");
  EXPECT_EQ(after.workload.job, job);
  // All kinds of work are as fast: the sums of counts tell.
  const double factor = counts_of(after) / counts_of(before);
  EXPECT_GT(factor, 1.5);
  EXPECT_DOUBLE_EQ(after.workload.train.mean_s, 0.04 * factor);
  EXPECT_DOUBLE_EQ(after.workload.train.deviation_s, 0.004 * factor);
  EXPECT_DOUBLE_EQ(*after.workload.parts.refresh_s, 0.01 * factor);
  EXPECT_GT(after.workload.train.interval_s, 0.3 * after.workload.train.mean_s);
  // Of 64 x hidden and hidden x 16 weights, four times as many.
  EXPECT_DOUBLE_EQ(*after.workload.parts.parameter_bytes, 4000);
  EXPECT_DOUBLE_EQ(*after.workload.parts.update_s, 0.004);
  EXPECT_GT(*after.workload.parts.activation_bytes, 1e6);
  EXPECT_FALSE(after.workload.evaluation->time_s.has_value());
  EXPECT_DOUBLE_EQ(after.workload.evaluation->host_bytes, 2 * 96);  // 64 + 128 columns where 64 + 32 were
  EXPECT_EQ(after.workload.cpu_batch.mean_s, before.workload.cpu_batch.mean_s) << "mini-batches are the same";
}

TEST(OtherModel, ThereAndBackIsTheMeasuredTime) {
  const auto before = measured();
  auto job = before.workload.job;
  job.model = plan::ModelKind::gat;
  job.hidden = 16;
  job.heads = 4;
  job.dropout = 0;
  const auto back = with_model(with_model(before, job, "model"), before.workload.job, "model");
  EXPECT_NEAR(back.workload.train.mean_s, before.workload.train.mean_s, 1e-12);
  EXPECT_NEAR(*back.workload.parts.activation_bytes, *before.workload.parts.activation_bytes, 1e-3);
}

TEST(OtherModel, WhatOneThreadDoesOfAStepGrowsLess) {
  auto before = measured();
  before.workload.train_speedup = {{1, 1}, {2, 1.6}, {4, 2.2857142857142856}};  // a quarter is serial: 10 ms
  auto job = before.workload.job;
  job.hidden = 256;
  const auto after = with_model(before, job, "hidden").workload;
  ASSERT_EQ(after.train_speedup.size(), 3U);
  EXPECT_EQ(after.train_speedup[0].value, 1);
  const double t = after.train.mean_s;
  const double serial_s = 0.01 * std::pow(t / 0.04, 0.4);
  EXPECT_LT(serial_s, 0.25 * t);
  EXPECT_NEAR(after.train_speedup[1].value, t / (serial_s + (t - serial_s) / 2), 1e-9);
  EXPECT_NEAR(after.train_speedup[2].value, t / (serial_s + (t - serial_s) / 4), 1e-9);
}

TEST(OtherModel, NeedsTheMachinesSpeeds) {
  auto profile = measured();
  auto job = profile.workload.job;
  job.matmul_precision = plan::MatmulPrecision::medium;
  EXPECT_THAT([&] { with_model(profile, job, "workload.job.matmul_precision"); },
              ThrowsMessage<base::InputError>(
                  HasSubstr("workload.job.matmul_precision: the machine's speeds have none of dense_bf16")));
  profile.machine_speeds.reset();
  EXPECT_THAT([&] { with_model(profile, job, "here"); },
              ThrowsMessage<base::InputError>(
                  HasSubstr("here: needs the machine's speeds: write them with gnomon machine -o FILE")));
  EXPECT_TRUE(is_of_model("hidden") && is_of_model("model") && !is_of_model("fanouts") &&
              !is_of_model("epochs"));
}

}  // namespace
}  // namespace gnomon::profiles
