#include "base/team.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/cores.h"

namespace gnomon::base {
namespace {

TEST(Team, EveryMemberTakesPartInEveryStep) {
  for (const int members : {1, 2, 5}) {
    Team team(members);
    EXPECT_EQ(team.size(), members);
    std::vector<int> calls(static_cast<std::size_t>(members), 0);
    for (int step = 1; step <= 2000; ++step) {
      team.step([&](int member) { ++calls[static_cast<std::size_t>(member)]; });
      // What the members wrote is seen by the caller after the step, and by all in the next.
      ASSERT_EQ(calls, std::vector(static_cast<std::size_t>(members), step));
    }
  }
}

TEST(Team, MembersWorkAtOnce) {
  // Each waits for the others within the step; one after the other, the first would wait until the deadline.
  Team team(3);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::atomic<int> arrived{0};
  std::atomic<int> met{0};
  team.step([&](int) {
    ++arrived;
    while (arrived < 3 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    met += arrived == 3 ? 1 : 0;
  });
  EXPECT_EQ(met, 3);
}

TEST(Team, RunsItsMembersWhereItIsTold) {
  int forks = 0;
  Team team(3, [&](int members, const std::function<void(int)>& body) {
    ++forks;
    for (int member = members - 1; member >= 0; --member) {
      body(member);
    }
  });
  EXPECT_EQ(team.size(), 3);
  std::vector<int> order;
  team.step([&](int member) { order.push_back(member); });
  EXPECT_EQ(order, (std::vector{2, 1, 0}));
  try {
    team.step([](int member) { throw std::runtime_error(std::to_string(member)); });
    FAIL() << "did not throw";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "0") << "the lowest member's";
  }
  team.park();
  EXPECT_EQ(forks, 2);
}

TEST(Team, WakesAfterItSlept) {
  Team team(4);
  std::atomic<int> calls{0};
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    team.step([&](int member) {
      if (member == i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      ++calls;
    });
    EXPECT_EQ(calls, 4 * (i + 1));
  }
}

TEST(Team, TheFirstErrorByNumberIsThrownAndTheNextStepRuns) {
  Team team(4);
  const auto thrown_by = [&](auto fails) {
    try {
      team.step([&](int member) {
        if (fails(member)) {
          throw std::runtime_error(std::to_string(member));
        }
      });
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(thrown_by([](int member) { return member > 1; }), "2");
  EXPECT_EQ(thrown_by([](int) { return true; }), "0");
  EXPECT_EQ(thrown_by([](int) { return false; }), "none");
}

TEST(Team, MembersButTheCallerRunWhereTheyAreTold) {
  const auto cores = allowed_core_numbers();
  const std::vector<int> order(cores.rbegin(), cores.rend());
  Team team(3, order);
  std::vector<int> ran_on(3, -1);
  team.step([&](int member) { ran_on[static_cast<std::size_t>(member)] = ::sched_getcpu(); });
  EXPECT_EQ(ran_on[1], order[1 % order.size()]);
  EXPECT_EQ(ran_on[2], order[2 % order.size()]);
}

}  // namespace
}  // namespace gnomon::base
