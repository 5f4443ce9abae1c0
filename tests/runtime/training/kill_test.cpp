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
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtime/training/run_log.h"
#include "runtime/training/trainer.h"
#include "tests/fixtures/temporary_directory.h"
#include "tests/runtime/kill_points.h"
#include "tests/runtime/training/killed_runs.h"

namespace gnomon::runtime {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* directory_variable = "GNOMON_TEST_RUN_DIRECTORY";
constexpr const char* run_variable = "GNOMON_TEST_RUN";
constexpr const char* process_variable = "GNOMON_TEST_PROCESS";
constexpr const char* interval_variable = "GNOMON_TEST_CHECKPOINT_EVERY";

/// Not a test: what the killed processes run (a process with threads cannot just be forked).
TEST(DISABLED_KilledProcess, Trains) {
  const char* directory = std::getenv(directory_variable);
  const char* name = std::getenv(run_variable);
  const char* process = std::getenv(process_variable);
  const char* interval = std::getenv(interval_variable);
  if (directory == nullptr || name == nullptr || process == nullptr || interval == nullptr) {
    GTEST_SKIP() << "only the test Kill runs this";
  }
  const auto& run = killed_run(name);
  auto options = run.options(std::atoi(process));
  options.run_directory = directory;
  options.resume = true;
  options.checkpoint_every_s = std::atof(interval);
  options.before_stage = [](schedule::Stage stage, std::int64_t) {
    if (stage == schedule::Stage::train) {
      reach("train", "stage");
    }
  };
  const auto report = train(graph_of(run, directory), options);
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
  const char* run;
  double checkpoint_every_s;  ///< 0: after every batch
  std::vector<const char*> moments;
};

void PrintTo(const Chain& chain, std::ostream* stream) { *stream << chain.name; }

class Kill : public testing::TestWithParam<Chain> {
 protected:
  /// Starts the next process of the run, which dies at the moment.
  std::optional<int> next_status(const std::string& moment) {
    return status_at_end(start_process({{directory_variable, directory_.path()},
                                        {run_variable, run_.name},
                                        {process_variable, std::to_string(processes_++)},
                                        {interval_variable, std::to_string(GetParam().checkpoint_every_s)},
                                        {kill_variable, moment}}));
  }
  /// The weights of the run without an interruption.
  std::string expected_hash() const {
    const test::TemporaryDirectory reference;
    auto options = run_.reference();
    if (run_.replays) {
      options.replay = read_orders(directory_ / "order.jsonl");
      options.hot_ratio.counts = read_hot_counts(directory_ / "order.jsonl");
    }
    return train(graph_of_reference(run_, reference.path()), options).weights_hash;
  }

  const KilledRun& run_ = killed_run(GetParam().run);
  const test::TemporaryDirectory directory_;
  int processes_ = 0;
};

TEST_P(Kill, ResumesToTheWeightsOfAnUninterruptedRun) {
  for (const std::string moment : GetParam().moments) {
    SCOPED_TRACE(moment);
    const auto status = next_status(moment);
    ASSERT_TRUE(status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL) << "never came";
    const bool leaves_temporary = moment.find(".tmp") != std::string::npos || moment.starts_with("rename ");
    EXPECT_EQ(testing::Value(directory_.names(), Contains(HasSubstr(".tmp-"))), leaves_temporary);
  }
  const auto status = next_status("never of 0");
  ASSERT_TRUE(status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0);
  std::string hash;
  std::ifstream(directory_ / "hash") >> hash;
  EXPECT_EQ(hash, expected_hash());
  EXPECT_EQ(read_orders(directory_ / "order.jsonl").size(), 3U);
  EXPECT_THAT(directory_.names(), Not(Contains(HasSubstr(".tmp-"))));
  if (run_.options(0).hot_ratio.adapt) {
    std::set<std::int64_t> counts;
    for (const auto& of_epoch : read_hot_counts(directory_ / "order.jsonl")) {
      counts.insert(of_epoch.begin(), of_epoch.end());
    }
    EXPECT_GT(counts.size(), 1U) << "nothing was adapted";
  }
}

constexpr double every_batch = 0;
constexpr double every_epoch = 1e6;

INSTANTIATE_TEST_SUITE_P(
    At, Kill,
    testing::Values(
        Chain{"TheFirstCheckpoint",
              "exact",
              every_batch,
              {"train stage 0", "write checkpoint.pt.tmp 0", "flush checkpoint.pt.tmp 0",
               "rename checkpoint.pt 0", "renamed checkpoint.pt 0"}},
        Chain{"LaterCheckpoints",
              "exact",
              every_batch,
              {"write checkpoint.pt.tmp 9", "rename checkpoint.pt 9", "write checkpoint.pt.tmp 0",
               "renamed checkpoint.pt 5", "train stage 3"}},
        // The batches' checkpoints of the first epoch come first. The process that resumes behind
        // all its batches writes the epoch's lines and then its checkpoint.
        Chain{"TheEndOfAnEpoch",
              "exact",
              every_batch,
              {"write log.jsonl 0", "write order.jsonl 0", "flush order.jsonl 0", "write checkpoint.pt.tmp 0",
               "rename checkpoint.pt 0", "renamed checkpoint.pt 0"}},
        Chain{"ResumingInTheSecondEpoch",
              "exact",
              every_batch,
              {"train stage 30", "write log.jsonl.tmp 0", "rename log.jsonl 0", "write order.jsonl.tmp 0",
               "rename order.jsonl 0", "renamed order.jsonl 0"}},
        Chain{"BatchesThatNoCheckpointHolds",
              "exact",
              every_epoch,
              {"train stage 0", "train stage 13", "train stage 27", "train stage 28", "train stage 27",
               "train stage 28", "train stage 27"}},
        // Before, at and after the ends of super-batches.
        Chain{"HotEmbeddings",
              "hot",
              every_batch,
              {"train stage 3", "renamed checkpoint.pt 1", "train stage 1", "rename checkpoint.pt 9",
               "write log.jsonl 0", "train stage 7"}},
        Chain{"HotEmbeddingsOfAnEpoch", "hot", every_epoch, {"train stage 13", "train stage 40"}},
        Chain{"FromDisk",
              "from disk",
              every_batch,
              {"train stage 0",
               "write checkpoint.pt.tmp 0",
               "train stage 3",
               "flush checkpoint.pt.tmp 2",
               "rename checkpoint.pt 9",
               "renamed checkpoint.pt 5",
               "write log.jsonl 0",
               "write order.jsonl 0",
               "train stage 5",
               "rename checkpoint.pt 0",
               "train stage 11",
               "renamed checkpoint.pt 0",
               "write log.jsonl.tmp 0",
               "rename order.jsonl 0",
               "train stage 1",
               "write log.jsonl 0",
               "flush order.jsonl 0",
               "train stage 20",
               "write checkpoint.pt.tmp 3",
               "renamed checkpoint.pt 1"}},
        // Within macro-batches and at their ends.
        Chain{"FromMacroBatches",
              "by parts",
              every_batch,
              {"train stage 0", "write checkpoint.pt.tmp 3", "train stage 5", "renamed checkpoint.pt 7",
               "rename checkpoint.pt 4", "write log.jsonl 0", "flush order.jsonl 0", "train stage 9",
               "renamed checkpoint.pt 0"}},
        Chain{"FromMacroBatchesInSeveralPasses",
              "by passes",
              every_epoch,
              {"train stage 3", "train stage 20", "write log.jsonl 0", "train stage 27",
               "renamed checkpoint.pt 0", "train stage 10"}},
        Chain{"AdaptedHotEmbeddings",
              "adapted hot",
              every_batch,
              {"train stage 3", "renamed checkpoint.pt 6", "train stage 1", "train stage 0",
               "rename checkpoint.pt 9", "write log.jsonl 0", "train stage 7", "write order.jsonl 0",
               "train stage 12"}},
        Chain{"AdaptedHotEmbeddingsOfAnEpoch",
              "adapted hot",
              every_epoch,
              {"train stage 13", "train stage 40", "train stage 20"}},
        Chain{"BiasedDraws",
              "biased",
              every_batch,
              {"train stage 0", "write checkpoint.pt.tmp 3", "train stage 5", "renamed checkpoint.pt 7",
               "rename checkpoint.pt 4", "write log.jsonl 0", "flush order.jsonl 0", "train stage 9",
               "renamed checkpoint.pt 0"}},
        Chain{"BiasedDrawsOfAnEpoch",
              "biased",
              every_epoch,
              {"train stage 13", "train stage 28", "train stage 27", "train stage 28"}},
        Chain{"A3gnnSequential",
              "a3gnn-sequential",
              every_batch,
              {"train stage 4", "rename checkpoint.pt 9", "write log.jsonl 0", "train stage 17"}},
        Chain{"A3gnnMode1",
              "a3gnn-mode1",
              every_batch,
              {"train stage 4", "rename checkpoint.pt 9", "write order.jsonl 0", "train stage 17"}},
        Chain{"A3gnnMode2",
              "a3gnn-mode2",
              every_batch,
              {"train stage 4", "renamed checkpoint.pt 9", "flush order.jsonl 0", "train stage 17"}},
        Chain{"HistoricalEmbeddingsOfHalos",
              "with halo",
              every_batch,
              {"train stage 0", "rename checkpoint.pt 9", "train stage 11", "renamed checkpoint.pt 5",
               "write log.jsonl 0", "train stage 20"}},
        Chain{"HistoricalEmbeddings",
              "with history",
              every_batch,
              {"train stage 0", "rename checkpoint.pt 9", "renamed checkpoint.pt 5", "train stage 40",
               "write log.jsonl 0", "write checkpoint.pt.tmp 0"}},
        Chain{"HistoricalEmbeddingsThatNoCheckpointHolds",
              "with history",
              every_epoch,
              {"train stage 13", "train stage 47", "train stage 46", "train stage 47"}}),
    [](const auto& named) { return std::string(named.param.name); });

}  // namespace
}  // namespace gnomon::runtime
