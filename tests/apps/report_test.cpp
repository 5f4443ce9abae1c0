#include "apps/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "apps/chart_library.h"
#include "apps/packed_prediction.h"
#include "base/document.h"
#include "program.h"

namespace gnomon::apps {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

sim::Prediction some_prediction() {
  sim::Prediction prediction;
  prediction.epoch_s = 1.0 / 3;
  prediction.lower_bound_s = std::numeric_limits<double>::infinity();
  prediction.cpu_batches = 17;
  prediction.bound_by = "link";
  prediction.memory.device.cache_bytes = 5e9;
  prediction.memory.shortage = sim::Shortage::device_memory;
  prediction.timeline = {{schedule::Stage::train, 3, 0, 0.5, 0.75, 1},
                         {schedule::Stage::group_read, 4, 2, 0.25, 1, 0}};
  return prediction;
}

TEST(PackedPrediction, ComesBackAsItWas) {
  const auto before = some_prediction();
  const auto after = unpack(pack(before));
  EXPECT_EQ(after.epoch_s, before.epoch_s);
  EXPECT_EQ(after.lower_bound_s, before.lower_bound_s);
  EXPECT_EQ(after.cpu_batches, 17);
  EXPECT_EQ(after.bound_by, "link");
  EXPECT_EQ(after.memory.device.cache_bytes, 5e9);
  EXPECT_EQ(after.memory.shortage, sim::Shortage::device_memory);
  ASSERT_EQ(after.timeline.size(), 2U);
  EXPECT_EQ(after.timeline[1].stage, schedule::Stage::group_read);
  EXPECT_EQ(after.timeline[1].lane, 2);
  EXPECT_EQ(pack(after), pack(before));
}

class Report : public ::testing::Test {
 protected:
  Report() { place.write("p.json", small_profile().dump()); }
  Workplace place;
};

TEST_F(Report, IsOnePageWithItsDataAndItsLibrary) {
  if (chart_library().empty()) {
    GTEST_SKIP() << "built without Chart.js";
  }
  const auto outcome = run_gnomon(
      {"explore", "p.json", "--plan", "salient,device", "--set", "plan.cpu_buffer=1,4", "--html", "r.html"},
      place.path());
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  const auto page = base::read_file(place.path() / "r.html");
  EXPECT_THAT(page, HasSubstr(std::string(chart_library())));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("<link")));
  const std::string mark = "const data = ";
  const auto begin = page.find(mark) + mark.size();
  const auto data = base::Json::parse(page.substr(begin, page.find(";\nconst rows", begin) - begin));
  EXPECT_EQ(data["columns"], base::Json({"plan.cpu_buffer"}));
  ASSERT_EQ(data["rows"].size(), 4U);
  EXPECT_GT(data["rows"][0]["epoch_s"], 0);
  EXPECT_GE(data["rows"][0]["over_bound"], 0);
  ASSERT_EQ(data["timelines"].size(), 4U);
  EXPECT_EQ(data["timelines"][0]["spans"][0]["lane"], "worker 0");
}

TEST_F(Report, ProcessesDoNotChangeTheResult) {
  const auto with_jobs = [&](const char* jobs) {
    return run_gnomon({"explore", "p.json", "--plan", "all", "--set", "machine.cpu.cores=2:8:*2", "--json",
                       "--jobs", jobs},
                      place.path())
        .out;
  };
  const auto one = with_jobs("1");
  EXPECT_THAT(one, HasSubstr("epoch_s"));
  EXPECT_EQ(with_jobs("3"), one);
}

}  // namespace
}  // namespace gnomon::apps
