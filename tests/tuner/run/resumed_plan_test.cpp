#include "tuner/run/resumed_plan.h"

#include <gtest/gtest.h>

#include "tests/fixtures/message_of.h"

namespace gnomon::tuner {
namespace {

std::string fault(const plan::Plan& own, const plan::Plan& now) {
  return test::message_of("", [&] { check_resumed_plan(own, now, "run"); });
}

plan::Plan biased(double bias) {
  auto plan = plan::find_plan("device");
  plan.exact = false;
  plan.bias = bias;
  plan.cache.policy = plan::CachePolicy::out_degree;
  return plan;
}

TEST(ResumedPlan, ExactPlansFollowEachOther) {
  EXPECT_EQ(fault(plan::find_plan("device"), plan::find_plan("gnomon")), "no error");
}

TEST(ResumedPlan, OthersMustTrainTheSame) {
  EXPECT_EQ(fault(biased(8), biased(8)), "no error");
  auto more_workers = biased(8);
  more_workers.device_threads = 2;
  EXPECT_EQ(fault(biased(8), more_workers), "no error");
  EXPECT_EQ(fault(biased(8), biased(4)),
            "run: plan.bias: the run was started with 8.0, not 4.0, which trains other mini-batches; resume "
            "with that, or use a new run directory");
  EXPECT_EQ(fault(plan::find_plan("device"), biased(8)).substr(0, 48),
            "run: plan.exact: the run was started with true, ");
}

}  // namespace
}  // namespace gnomon::tuner
