#include "base/watched_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"

namespace gnomon::base {
namespace {

using ::testing::ElementsAre;

ProgramOutcome shell(const std::string& script, const Watcher& watch = {}) {
  return run_watched("/bin/sh", {"-c", script}, watch);
}

TEST(RunWatched, TakesBothOutputsWhateverTheirSize) {
  const auto outcome = shell("head -c 300000 /dev/zero; head -c 200000 /dev/zero >&2; exit 3");
  EXPECT_EQ(outcome.out.size(), 300000U);
  EXPECT_EQ(outcome.error.size(), 200000U);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_FALSE(outcome.interrupted);
}

TEST(RunWatched, PassesWholeLinesOfReportsOn) {
  std::vector<std::string> lines;
  shell("printf 'one\\ntw' >&$GNOMON_REPORT_FILE; sleep 0.2; printf 'o\\n' >&$GNOMON_REPORT_FILE; sleep 0.1",
        [&](std::string_view line) {
          if (!line.empty()) {
            lines.emplace_back(line);
          }
          return false;
        });
  EXPECT_THAT(lines, ElementsAre("one", "two"));
}

TEST(RunWatched, InterruptsWhatIsAsked) {
  const auto outcome = shell("trap 'echo stopped; exit 1' INT; while :; do sleep 0.05; done",
                             [](std::string_view) { return true; });
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_EQ(outcome.out, "stopped\n");
  EXPECT_EQ(outcome.exit_code, 1);
}

TEST(RunWatched, TellsTheSignalThatEndedAProgram) {
  EXPECT_EQ(shell("kill -9 $$").exit_code, -9);
  EXPECT_THROW(run_watched("/no/such/program", {}, {}), Failure);
}

TEST(RunWatched, AWatcherThatThrowsEndsTheProgram) {
  EXPECT_THROW(shell("sleep 100", [](std::string_view) -> bool { throw std::logic_error("enough"); }),
               std::logic_error);
}

}  // namespace
}  // namespace gnomon::base
