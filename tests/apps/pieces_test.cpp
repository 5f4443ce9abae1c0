#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <sstream>

#include "apps/flags/size_flag.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/text/format.h"
#include "apps/text/output.h"
#include "apps/text/replanning_text.h"
#include "apps/text/table.h"
#include "base/csv.h"
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

Table wide_table() {
  Table table({"plan", "machine.cpu.cores", "epoch", "over bound", "device", "bound by"});
  table.may_omit({"device", "over bound"});
  table.add_row({"a", "2", "12.5 µs", "0.1 %", "99.0 %", "cpu"});
  table.add_rule();
  table.add_row({"a_plan_with_a_long_name_4", "16", "-", "-", "-", "device"});
  return table;
}

TEST(Table, BreaksHeadingsWhereItIsTooWide) {
  EXPECT_EQ(wide_table().text(74),
            "                           machine.\n"
            "                               cpu.            over          bound\n"
            "plan                          cores    epoch  bound  device  by\n"
            "-------------------------  --------  -------  -----  ------  ------\n"
            "a                                 2  12.5 µs  0.1 %  99.0 %  cpu\n"
            "-------------------------  --------  -------  -----  ------  ------\n"
            "a_plan_with_a_long_name_4        16        -      -       -  device\n");
}

TEST(Table, LeavesColumnsOutAndShortensTexts) {
  const auto lines_within = [](const std::string& text, std::size_t width) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const auto characters =
          std::count_if(line.begin(), line.end(), [](unsigned char c) { return (c & 0xC0U) != 0x80U; });
      EXPECT_LE(static_cast<std::size_t>(characters), width) << line;
    }
  };
  const auto narrow = wide_table().text(60);
  lines_within(narrow, 60);
  EXPECT_THAT(narrow, HasSubstr("a_plan_with_a_long_name_4"));
  EXPECT_THAT(narrow, HasSubstr("(columns that do not fit: device; see --json)\n"));
  const auto narrowest = wide_table().text(40);
  EXPECT_THAT(narrowest, HasSubstr("(columns that do not fit: device, over bound; see --json)"));
  EXPECT_THAT(narrowest, HasSubstr("…"));
  EXPECT_THAT(narrowest, HasSubstr("_4 ")) << "the end of a name tells it from others";
}

TEST(Table, AsksTheEnvironmentForItsWidth) {
  const char* before = std::getenv("COLUMNS");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("COLUMNS", "72", 1);
  EXPECT_EQ(output_width(), 72);
  ::unsetenv("COLUMNS");
  if (::isatty(STDOUT_FILENO) != 1) {
    EXPECT_EQ(output_width(), 100);
  }
  if (before != nullptr) {
    ::setenv("COLUMNS", kept.c_str(), 1);
  }
}

TEST(Format, NumbersHaveNoExponentAndNoRoundingError) {
  EXPECT_EQ(format_number(-1.1102e-16), "0");
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(12.3456), "12.35");
  EXPECT_EQ(format_number(-2.5), "-2.5");
  EXPECT_EQ(format_number(1234567), "1,234,567");
  EXPECT_EQ(format_number(0.00012346), "0.0001235");
  EXPECT_EQ(format_change(-1.1102e-16), "+0.0 %");
  EXPECT_EQ(format_change(-0.0123), "-1.2 %");
}

TEST(Format, CountsAgreeWithTheirNouns) {
  EXPECT_EQ(format_counted(1, "mini-batch", "mini-batches"), "1 mini-batch");
  EXPECT_EQ(format_counted(0, "mini-batch", "mini-batches"), "0 mini-batches");
  EXPECT_EQ(format_counted(1200, "mini-batch", "mini-batches"), "1,200 mini-batches");
}

TEST(Format, IntervalsAreSharesOfTheirValue) {
  EXPECT_EQ(format_with_interval(2, 0.05), "2.00 s +-2.5 %");
  EXPECT_EQ(format_with_interval(2, std::nullopt), "2.00 s");
}

// A plan that the turns show to be faster though it is predicted to be slower, and what it brought.
TEST(Replanned, TellsThePredictedAndTheMeasuredGain) {
  tuner::Replanned change;
  change.from = "dgl";
  change.to = "device";
  change.predicted_gain = -0.02;
  change.gain = 0.1;
  change.turns = 6;
  change.extra_s = 0.5;
  change.before_batch_s = 0.02;
  const auto at_change = replanned_text(change);
  EXPECT_THAT(at_change,
              HasSubstr("changing to plan device, which is predicted to take -2.0 % less time than dgl"));
  EXPECT_THAT(at_change, HasSubstr("and 10.0 % less measured in 6 turns"));
  change.after_batch_s = 0.015;
  const auto later = replanned_text(change);
  EXPECT_THAT(later, HasSubstr("plan device takes 15.0 ms a mini-batch, dgl took 20.0 ms: 25.0 % less"));
  EXPECT_THAT(later, HasSubstr("(predicted: -2.0 %)"));
}

TEST(Sizes, OneRuleForEveryOption) {
  const auto bytes = [](const std::string& text) {
    CLI::App app;
    std::uint64_t value = 0;
    add_size(app, "--device-memory", value, "Limit");
    app.parse("--device-memory " + text);
    return value;
  };
  EXPECT_EQ(bytes("4kB"), 4000U);
  EXPECT_EQ(bytes("4KiB"), 4096U);
  EXPECT_EQ(bytes("1.5GB"), 1500000000U);
  EXPECT_THROW(bytes("4XB"), CLI::ParseError);
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
  EXPECT_EQ(base::csv_of({{{"name", "a,b"}, {"x", 0.1}, {"why", nullptr}},
                          {{"name", "say \"c\""}, {"x", 2}, {"why", ""}}}),
            "name,x,why\n\"a,b\",0.1,\n\"say \"\"c\"\"\",2,\n");
  EXPECT_EQ(base::csv_of({}), "");
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

// An interrupted epoch had 90 of 100 mini-batches; this process takes 1 s for each of the others.
TEST(ProgressBar, TimeLeftIsByTheSpeedOfThisProcess) {
  std::ostringstream out;
  FakeClock time;
  ProgressBar bar(out, true, time.clock());
  const auto progress = bar.progress();
  progress("epoch 2", 91, 100);
  for (int done = 92; done <= 96; ++done) {
    time.seconds += 1;
    progress("epoch 2", done, 100);
  }
  EXPECT_THAT(out.str(), HasSubstr(" 96 %, 4.00 s left"));
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
