#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "graph/store/store.h"
#include "runtime/training/run_log.h"
#include "runtime/training/trainer.h"
#include "tests/fixtures/temporary_directory.h"
#include "tests/runtime/kill_points.h"
#include "tests/runtime/test_runs.h"

namespace gnomon::runtime {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* directory_variable = "GNOMON_TEST_RUN_DIRECTORY";
constexpr const char* plan_variable = "GNOMON_TEST_PLAN";
constexpr const char* interval_variable = "GNOMON_TEST_CHECKPOINT_EVERY";

/// Plans from this number on keep historical embeddings.
constexpr int first_with_history = 100;

plan::Plan plan_with_history(int number) {
  auto plan = plan::find_plan("gas");
  plan.workers = 1 + number % 2;
  plan.device_threads = 1;
  plan.schedule = number % 3 == 0 ? plan::Schedule::sequential : plan.schedule;
  plan.workers = number % 3 == 0 ? 1 : plan.workers;
  return plan;
}

/// And those from this one to the former on read a store on the disk.
constexpr int first_from_disk = 80;

plan::Plan plan_from_disk(int number) {
  auto plan = plan::find_plan(number % 2 == 0 ? "ginex" : "ns-ext");
  plan.order = plan::Order::index;
  plan.super_batch = number % 2 == 0 ? 7 : 1;
  plan.workers = 1 + number % 3;
  plan.device_threads = 1;
  return plan;
}

bool reads_store(int number) { return number >= first_from_disk && number < first_with_history; }

/// Plans by number: every part of a killed run takes another one. Of the exact ones all train the same.
plan::Plan numbered_plan(int number) {
  if (number >= first_with_history) {
    return plan_with_history(number - first_with_history);
  }
  if (reads_store(number)) {
    return plan_from_disk(number - first_from_disk);
  }
  const std::vector<plan::Plan> plans = {
      sequential_plan(), plan_of(plan::Schedule::pipelined, plan::Route::cpu, 2), claim_ahead_plan(3, 2),
      plan_of(plan::Schedule::sequential, plan::Route::device, 0)};
  return plans[static_cast<std::size_t>(number) % plans.size()];
}

/// The number of a plan that reuses hot embeddings, in super-batches of five.
constexpr int hot_plan_number = 1000;

plan::Plan hot_plan() {
  auto plan = plan_of(plan::Schedule::super_batch, plan::Route::device, 0);
  plan.exact = false;
  plan.embeddings = {plan::Reuse::hot, 0.3};
  plan.super_batch = 5;
  plan.workers = 2;
  return plan;
}

/// Three epochs of 28 batches, or of 47 with all vertices as seeds.
TrainOptions run_of(int plan_number) {
  TrainOptions options{.job = small_job(plan::ModelKind::gcn),
                       .plan = plan_number == hot_plan_number ? hot_plan() : numbered_plan(plan_number)};
  options.job.epochs = 3;
  return options;
}

graph::Graph kill_graph() { return test::planted_graph(1500, 32); }

/// That graph from a store in the directory, which the first process writes.
graph::Graph stored_graph(const std::filesystem::path& directory) {
  if (!std::filesystem::exists(directory / "store")) {
    graph::write_store(kill_graph(), directory / "store");
  }
  return graph::open_store(directory / "store");
}

/// Not a test: what the killed processes run (a process with threads cannot just be forked).
TEST(DISABLED_KilledProcess, Trains) {
  const char* directory = std::getenv(directory_variable);
  const char* plan = std::getenv(plan_variable);
  const char* interval = std::getenv(interval_variable);
  if (directory == nullptr || plan == nullptr || interval == nullptr) {
    GTEST_SKIP() << "only the test Kill runs this";
  }
  auto options = run_of(std::atoi(plan));
  options.run_directory = directory;
  options.resume = true;
  options.checkpoint_every_s = std::atof(interval);
  options.before_stage = [](schedule::Stage stage, std::int64_t) {
    if (stage == schedule::Stage::train) {
      reach("train", "stage");
    }
  };
  const bool is_stored = reads_store(std::atoi(plan));
  const auto report = train(is_stored ? stored_graph(directory) : kill_graph(), options);
  std::ofstream(std::filesystem::path(directory) / "hash") << report.weights_hash;
}

/// Starts this program again, with variables set that begin with GNOMON_TEST.
pid_t start_process(const std::vector<std::pair<const char*, std::string>>& variables) {
  for (const auto& [name, value] : variables) {
    ::setenv(name, value.c_str(), 1);
  }
  std::vector<std::string> arguments = {"/proc/self/exe", "--gtest_also_run_disabled_tests",
                                        "--gtest_filter=DISABLED_KilledProcess.Trains", "--gtest_brief=1"};
  std::vector<char*> pointers;
  for (auto& argument : arguments) {
    pointers.push_back(argument.data());
  }
  pointers.push_back(nullptr);
  pid_t process = 0;
  EXPECT_EQ(::posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, pointers.data(), environ), 0);
  for (const auto& [name, value] : variables) {
    ::unsetenv(name);
  }
  return process;
}

/// How a process ended; none, and it is killed, when it has not within two minutes.
std::optional<int> status_at_end(pid_t process) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  int status = 0;
  while (std::chrono::steady_clock::now() < until) {
    if (::waitpid(process, &status, WNOHANG) == process) {
      return status;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ::kill(process, SIGKILL);
  ::waitpid(process, &status, 0);
  return std::nullopt;
}

/// A run that is killed at one moment after the other, each in the process that resumed after the last.
struct Chain {
  const char* name;
  double checkpoint_every_s;  ///< 0: after every batch
  std::vector<const char*> moments;
  bool reuses = false;  ///< hot embeddings; otherwise every process takes another plan
  int first_plan = 0;
};

void PrintTo(const Chain& chain, std::ostream* stream) { *stream << chain.name; }

class Kill : public testing::TestWithParam<Chain> {};

TEST_P(Kill, ResumesToTheWeightsOfAnUninterruptedRun) {
  // What reads the disk trains as plans in memory do.
  const int alone = GetParam().reuses                    ? hot_plan_number
                    : reads_store(GetParam().first_plan) ? 0
                                                         : GetParam().first_plan;
  const auto expected = train(kill_graph(), run_of(alone));
  const test::TemporaryDirectory directory;
  int number = GetParam().first_plan;
  const auto run = [&](const std::string& moment) {
    return status_at_end(
        start_process({{directory_variable, directory.path()},
                       {plan_variable, std::to_string(GetParam().reuses ? hot_plan_number : number++)},
                       {interval_variable, std::to_string(GetParam().checkpoint_every_s)},
                       {kill_variable, moment}}));
  };
  for (const std::string moment : GetParam().moments) {
    SCOPED_TRACE(moment);
    const auto status = run(moment);
    ASSERT_TRUE(status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL) << "never came";
    const bool leaves_temporary = moment.find(".tmp") != std::string::npos || moment.starts_with("rename ");
    EXPECT_EQ(testing::Value(directory.names(), Contains(HasSubstr(".tmp-"))), leaves_temporary);
  }
  const auto status = run("never of 0");
  ASSERT_TRUE(status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0);
  std::string hash;
  std::ifstream(directory / "hash") >> hash;
  EXPECT_EQ(hash, expected.weights_hash);
  EXPECT_EQ(read_orders(directory / "order.jsonl").size(), 3U);
  EXPECT_THAT(directory.names(), Not(Contains(HasSubstr(".tmp-"))));
}

constexpr double every_batch = 0;
constexpr double every_epoch = 1e6;

INSTANTIATE_TEST_SUITE_P(
    At, Kill,
    testing::Values(Chain{"TheFirstCheckpoint",
                          every_batch,
                          {"train stage 0", "write checkpoint.pt.tmp 0", "flush checkpoint.pt.tmp 0",
                           "rename checkpoint.pt 0", "renamed checkpoint.pt 0"}},
                    Chain{"LaterCheckpoints",
                          every_batch,
                          {"write checkpoint.pt.tmp 9", "rename checkpoint.pt 9", "write checkpoint.pt.tmp 0",
                           "renamed checkpoint.pt 5", "train stage 3"}},
                    // The batches' checkpoints of the first epoch come first. The process that resumes behind
                    // all its batches writes the epoch's lines and then its checkpoint.
                    Chain{"TheEndOfAnEpoch",
                          every_batch,
                          {"write log.jsonl 0", "write order.jsonl 0", "flush order.jsonl 0",
                           "write checkpoint.pt.tmp 0", "rename checkpoint.pt 0", "renamed checkpoint.pt 0"}},
                    Chain{"ResumingInTheSecondEpoch",
                          every_batch,
                          {"train stage 30", "write log.jsonl.tmp 0", "rename log.jsonl 0",
                           "write order.jsonl.tmp 0", "rename order.jsonl 0", "renamed order.jsonl 0"}},
                    Chain{"BatchesThatNoCheckpointHolds",
                          every_epoch,
                          {"train stage 0", "train stage 13", "train stage 27", "train stage 28",
                           "train stage 27", "train stage 28", "train stage 27"}},
                    // Before, at and after the ends of super-batches.
                    Chain{"HotEmbeddings",
                          every_batch,
                          {"train stage 3", "renamed checkpoint.pt 1", "train stage 1",
                           "rename checkpoint.pt 9", "write log.jsonl 0", "train stage 7"},
                          true},
                    Chain{"HotEmbeddingsOfAnEpoch", every_epoch, {"train stage 13", "train stage 40"}, true},
                    Chain{"FromDisk",
                          every_batch,
                          {"train stage 3", "rename checkpoint.pt 9", "train stage 20", "write log.jsonl 0",
                           "renamed checkpoint.pt 5"},
                          false,
                          first_from_disk},
                    Chain{"HistoricalEmbeddings",
                          every_batch,
                          {"train stage 0", "rename checkpoint.pt 9", "renamed checkpoint.pt 5",
                           "train stage 40", "write log.jsonl 0", "write checkpoint.pt.tmp 0"},
                          false,
                          first_with_history},
                    Chain{"HistoricalEmbeddingsThatNoCheckpointHolds",
                          every_epoch,
                          {"train stage 13", "train stage 47", "train stage 46", "train stage 47"},
                          false,
                          first_with_history}),
    [](const auto& named) { return std::string(named.param.name); });

}  // namespace
}  // namespace gnomon::runtime
