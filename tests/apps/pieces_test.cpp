#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <sstream>

#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/text/format.h"
#include "apps/text/output.h"
#include "apps/text/table.h"
#include "base/error.h"
#include "base/stop.h"

namespace gnomon::apps {
namespace {

using ::testing::HasSubstr;

TEST(Table, AlignsNumbersRightAndTextLeft) {
  Table table({"plan", "epoch", "by"});
  table.add_row({"a", "12.5 µs", "cpu"});
  table.add_row({"longer", "-", "device"});
  EXPECT_EQ(table.text(),
            "plan      epoch  by\n"
            "------  -------  ------\n"
            "a       12.5 µs  cpu\n"
            "longer        -  device\n");
  EXPECT_THROW(table.add_row({"too", "few"}), std::logic_error);
}

TEST(Format, SecondsHaveAFittingUnit) {
  EXPECT_EQ(format_seconds(0), "0.00 s");
  EXPECT_EQ(format_seconds(1.234), "1.23 s");
  EXPECT_EQ(format_seconds(0.99949), "999 ms");
  EXPECT_EQ(format_seconds(0.9996), "1.00 s");
  EXPECT_EQ(format_seconds(1.5e-5), "15.0 µs");
  EXPECT_EQ(format_seconds(2e-13), "0.00 ns");
  EXPECT_EQ(format_seconds(100), "100 s");
  EXPECT_EQ(format_seconds(185.2), "3 min 05 s");
}

TEST(Format, BytesCountsAndSharesHaveFittingUnits) {
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(25.0 * (1 << 30)), "25.0 GiB");
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1234567), "1,234,567");
  EXPECT_EQ(format_count(-1000), "-1,000");
  EXPECT_EQ(format_percent(0.1234), "12.3 %");
  EXPECT_EQ(format_percent(-1e-9), "0.0 %");
}

TEST(Csv, QuotesWhatMustBe) {
  EXPECT_EQ(csv_of({{{"name", "a,b"}, {"x", 0.1}, {"why", nullptr}},
                    {{"name", "say \"c\""}, {"x", 2}, {"why", ""}}}),
            "name,x,why\n\"a,b\",0.1,\n\"say \"\"c\"\"\",2,\n");
  EXPECT_EQ(csv_of({}), "");
}

/// A clock that the test turns.
struct FakeClock {
  double seconds = 0;
  ProgressBar::Clock clock() {
    return [this] {
      return std::chrono::steady_clock::time_point(
          std::chrono::duration_cast<std::chrono::steady_clock::duration>(
              std::chrono::duration<double>(seconds)));
    };
  }
};

TEST(ProgressBar, OnATerminalOnlyForWhatTakesLong) {
  std::ostringstream out;
  FakeClock time;
  {
    ProgressBar bar(out, true, time.clock());
    const auto progress = bar.progress();
    progress("reading", 0, 10);
    progress("reading", 1, 10);
    EXPECT_EQ(out.str(), "");
    time.seconds = 1;
    progress("reading", 5, 10);
    EXPECT_THAT(out.str(), HasSubstr("reading [===============               ]  50 %, 1.00 s left"));
    const auto before = out.str().size();
    time.seconds = 1.01;
    progress("reading", 6, 10);
    EXPECT_EQ(out.str().size(), before) << "redrawn too soon";
    bar.note("a line");
    EXPECT_THAT(out.str(), HasSubstr("\r\x1b[Ka line\n"));
    progress("reading", 7, 10);
  }
  EXPECT_TRUE(out.str().ends_with("\r\x1b[K")) << "not wiped";
}

TEST(ProgressBar, ElsewhereOneLineAStageAndNoBar) {
  std::ostringstream out;
  FakeClock time;
  ProgressBar bar(out, false, time.clock());
  const auto progress = bar.progress();
  for (time.seconds = 0; time.seconds < 10; time.seconds += 0.5) {
    progress("reading", 1, 0);
  }
  progress("quick", 1, 2);
  EXPECT_EQ(out.str(), "reading ...\n");
}

TEST(Interrupt, FirstSignalOnlySetsTheFlag) {
  const auto& stop = stop_on_interrupt();
  EXPECT_FALSE(stop);
  const auto progress = base::stoppable({}, &stop);
  progress("work", 1, 2);
  std::raise(SIGINT);
  EXPECT_TRUE(stop);
  EXPECT_THROW(progress("work", 2, 2), base::Interrupted);
}

}  // namespace
}  // namespace gnomon::apps
