#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "runtime/run_log.h"
#include "runtime/trainer.h"
#include "tests/random_seed.h"
#include "tests/runtime/test_runs.h"

namespace gnomon::runtime {
namespace {

constexpr const char* directory_variable = "GNOMON_TEST_RUN_DIRECTORY";
constexpr const char* plan_variable = "GNOMON_TEST_PLAN";

/// Exact plans by number: every part of a killed run takes another one.
plan::Plan numbered_plan(int number) {
  const std::vector<plan::Plan> plans = {
      sequential_plan(), plan_of(plan::Schedule::pipelined, plan::Route::cpu, 2), claim_ahead_plan(3, 2),
      plan_of(plan::Schedule::sequential, plan::Route::device, 0)};
  return plans[static_cast<std::size_t>(number) % plans.size()];
}

TrainOptions slow_run(const std::filesystem::path& directory, int plan_number) {
  TrainOptions options{.job = small_job(plan::ModelKind::gcn), .plan = numbered_plan(plan_number)};
  options.job.epochs = 3;
  options.run_directory = directory;
  options.resume = true;
  options.checkpoint_every_s = 0.02;
  options.before_stage = [directory](schedule::Stage stage, std::int64_t) {
    if (stage == schedule::Stage::train) {
      std::ofstream(directory / "training");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(stage == schedule::Stage::train ? 15 : 1));
  };
  return options;
}

graph::Graph kill_graph() { return test::planted_graph(1500, 32); }

/// Not a test: what the killed processes run (a process with threads cannot just be forked).
TEST(DISABLED_KilledProcess, Trains) {
  const char* directory = std::getenv(directory_variable);
  const char* plan = std::getenv(plan_variable);
  if (directory == nullptr || plan == nullptr) {
    GTEST_SKIP() << "only the test Kill runs this";
  }
  const auto report = train(kill_graph(), slow_run(directory, std::atoi(plan)));
  std::ofstream(std::filesystem::path(directory) / "hash") << report.weights_hash;
}

/// Starts this program again, to train in `directory`.
pid_t start_process(const std::filesystem::path& directory, int plan_number) {
  ::setenv(directory_variable, directory.c_str(), 1);
  ::setenv(plan_variable, std::to_string(plan_number).c_str(), 1);
  std::vector<std::string> arguments = {"/proc/self/exe", "--gtest_also_run_disabled_tests",
                                        "--gtest_filter=DISABLED_KilledProcess.Trains", "--gtest_brief=1"};
  std::vector<char*> pointers;
  for (auto& argument : arguments) {
    pointers.push_back(argument.data());
  }
  pointers.push_back(nullptr);
  pid_t process = 0;
  EXPECT_EQ(::posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, pointers.data(), environ), 0);
  return process;
}

/// Whether the process ended by itself within `seconds`; it is killed otherwise.
bool ended_within(pid_t process, double seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  int status = 0;
  while (std::chrono::steady_clock::now() < until) {
    if (::waitpid(process, &status, WNOHANG) == process) {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the process failed";
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ::kill(process, SIGKILL);
  ::waitpid(process, &status, 0);
  return false;
}

std::string text_of(const std::filesystem::path& path) {
  std::string text;
  std::ifstream(path) >> text;
  return text;
}

void wait_for_file(const std::filesystem::path& path) {
  for (int i = 0; i < 30000 && !std::filesystem::exists(path); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(Kill, AtTwentyRandomMomentsResumesToTheWeightsOfAnUninterruptedRun) {
  auto options = slow_run({}, 0);
  options.before_stage = {};
  const auto expected = train(kill_graph(), options);

  const test::RandomSeed seed(77);
  std::mt19937_64 random(seed);
  int kills = 0;
  int number = 0;
  while (kills < 20) {
    const test::TemporaryDirectory directory;
    bool is_done = false;
    while (!is_done) {
      std::filesystem::remove(directory.path() / "training");
      const auto process = start_process(directory.path(), number++);
      if (kills < 20) {
        wait_for_file(directory.path() / "training");
        is_done = ended_within(process, static_cast<double>(random() % 1000) * 5e-4);
        kills += is_done ? 0 : 1;
      } else {
        is_done = ended_within(process, 120);
        ASSERT_TRUE(is_done);
      }
    }
    EXPECT_EQ(text_of(directory.path() / "hash"), expected.weights_hash);
    EXPECT_EQ(read_orders(directory.path() / "order.jsonl").size(), 3U);
    for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
      EXPECT_EQ(entry.path().filename().string().find(".tmp-"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace gnomon::runtime
