#include "tuner/history/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/fixtures/keyed_machine.h"
#include "tests/fixtures/temporary_directory.h"
#include "tests/fixtures/variable.h"

namespace gnomon::tuner {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Outcomes outcomes_of_graph(const std::string& graph) {
  return {.machine = test::some_key(), .graph = graph, .inputs = {"graph.vertices"}, .values = {3}};
}

class HistoryTest : public ::testing::Test {
 protected:
  test::TemporaryDirectory place_;
  History history_{place_.path() / "history"};
};

TEST_F(HistoryTest, IsReadInTheOrderOfRuns) {
  EXPECT_THAT(history_.read(), IsEmpty());
  ASSERT_EQ(history_.add(outcomes_of_graph("a")), "");
  ASSERT_EQ(history_.add(outcomes_of_graph("b")), "");
  const auto read = history_.read();
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].graph, "a");
  EXPECT_EQ(read[1].graph, "b");
  EXPECT_EQ(read[1].values, std::vector<double>{3});
}

TEST_F(HistoryTest, LeavesOutWhatItCannotUse) {
  auto older = outcomes_of_graph("older");
  older.predictions = predictions_version - 1;
  ASSERT_EQ(history_.add(older), "");
  auto broken = outcomes_of_graph("broken");
  broken.values.clear();
  ASSERT_EQ(history_.add(broken), "");
  std::ofstream(history_.directory() / "0.json") << "{\"schema\": ";
  std::ofstream(history_.directory() / "1.json.tmp-1") << "{";
  ASSERT_EQ(history_.add(outcomes_of_graph("good")), "");
  const auto read = history_.read();
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].graph, "good");
}

TEST_F(HistoryTest, KeepsTheNewest) {
  const auto count = static_cast<int>(History::max_runs) + 2;
  for (int run = 0; run < count; ++run) {
    ASSERT_EQ(history_.add(outcomes_of_graph(std::to_string(run))), "");
  }
  const auto read = history_.read();
  ASSERT_EQ(read.size(), History::max_runs);
  EXPECT_EQ(read.front().graph, "2");
  EXPECT_EQ(read.back().graph, std::to_string(count - 1));
  EXPECT_EQ(history_.forget(), static_cast<int>(History::max_runs));
  EXPECT_THAT(history_.read(), IsEmpty());
}

TEST_F(HistoryTest, CanBeTurnedOffAlone) {
  const test::Variable cache("GNOMON_CACHE", place_.path().string());
  EXPECT_EQ(History().directory(), place_.path() / "history");
  const test::Variable off("GNOMON_HISTORY", "off");
  EXPECT_EQ(History().directory(), "");
  EXPECT_EQ(History().add(outcomes_of_graph("a")), "GNOMON_HISTORY is off");
  EXPECT_THAT(History().read(), IsEmpty());
}

TEST_F(HistoryTest, SaysWhyNothingIsKept) {
  EXPECT_EQ(History(std::filesystem::path()).add(outcomes_of_graph("a")), "there is no cache");
  std::ofstream(place_.path() / "file") << "x";
  EXPECT_THAT(History(place_.path() / "file" / "history").add(outcomes_of_graph("a")), HasSubstr("file"));
}

}  // namespace
}  // namespace gnomon::tuner
