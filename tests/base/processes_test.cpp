#include "base/processes.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <string>

#include "base/error.h"

namespace gnomon::base {
namespace {

TEST(Processes, AnswersComeBackByNumber) {
  for (const int jobs : {1, 2, 5, 100}) {
    const auto values = in_processes(
        41, jobs,
        [](std::int64_t number) { return std::string(static_cast<std::size_t>(number * 5000), 'x'); }, {},
        "");
    ASSERT_EQ(values.size(), 41U);
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(values[i].size(), i * 5000);
    }
  }
  EXPECT_TRUE(in_processes(
                  0, 3, [](std::int64_t) { return ""; }, {}, "")
                  .empty());
}

TEST(Processes, AreAsManyAsAskedAndNotThisOne) {
  const auto values = in_processes(
      12, 3, [](std::int64_t) { return std::to_string(getpid()); }, {}, "");
  const std::set<std::string> ids(values.begin(), values.end());
  EXPECT_EQ(ids.size(), 3U);
  EXPECT_EQ(ids.count(std::to_string(getpid())), 0U);
}

TEST(Processes, ErrorsOfTheFirstNumberComeOut) {
  const auto work = [](std::int64_t number) -> std::string {
    if (number >= 4) {
      throw InputError("number " + std::to_string(number));
    }
    return "";
  };
  for (const int jobs : {1, 3}) {
    try {
      in_processes(9, jobs, work, {}, "");
      FAIL() << "no exception";
    } catch (const InputError& error) {
      EXPECT_STREQ(error.what(), "number 4");
    }
  }
}

TEST(Processes, ThatDieAreAFailure) {
  const auto work = [](std::int64_t number) -> std::string {
    if (number == 3) {
      _exit(7);
    }
    return "";
  };
  EXPECT_THROW(in_processes(9, 2, work, {}, ""), Failure);
}

TEST(Processes, EndWhenProgressThrows) {
  const auto wait = [](std::int64_t number) {
    if (number > 0) {
      sleep(60);
    }
    return std::string();
  };
  int reports = 0;
  const Progress stop = [&](std::string_view, std::int64_t, std::int64_t) {
    if (++reports > 2) {
      throw Interrupted();
    }
  };
  EXPECT_THROW(in_processes(4, 2, wait, stop, ""), Interrupted);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a process is left";
}

}  // namespace
}  // namespace gnomon::base
