#include "apps/text/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/document.h"
#include "program.h"
#include "serve/page_files.h"

namespace gnomon::apps {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Report : public ::testing::Test {
 protected:
  Report() { place.write("p.json", small_profile().dump()); }
  Workplace place;
};

TEST_F(Report, IsOnePageWithItsDataAndItsLibrary) {
  if (serve::chart_library().empty()) {
    GTEST_SKIP() << "built without Chart.js";
  }
  const auto outcome = run_gnomon(
      {"explore", "p.json", "--plan", "salient,device", "--set", "plan.cpu_buffer=1,4", "--html", "r.html"},
      place.path());
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  const auto page = base::read_file(place.path() / "r.html");
  EXPECT_THAT(page, HasSubstr(std::string(serve::chart_library())));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("<link")));
  const std::string mark = "const data = ";
  const auto begin = page.find(mark) + mark.size();
  const auto data = base::Json::parse(page.substr(begin, page.find(";\nconst rows", begin) - begin));
  EXPECT_EQ(data["columns"], base::Json({"plan.cpu_buffer"}));
  ASSERT_EQ(data["rows"].size(), 4U);
  EXPECT_GT(data["rows"][0]["epoch_s"], 0);
  EXPECT_GE(data["rows"][0]["over_bound"], 0);
  EXPECT_EQ(data["rows"][0]["rests_on"], "measured");
  EXPECT_THAT(page, HasSubstr("cell.title = hint(column, row)"));
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
