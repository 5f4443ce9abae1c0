#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string>

#include "base/atomic_file.h"
#include "base/document.h"
#include "plan/plan.h"
#include "program.h"

// Training on a graph that is larger than the memory allowed, in a control group that kills what takes more.

namespace gnomon::apps {
namespace {

namespace fs = std::filesystem;
using base::Json;

/// A memory control group of its own, page cache included; of either version.
class MemoryGroup {
 public:
  explicit MemoryGroup(std::int64_t limit_bytes) {
    const auto name = "gnomon-test-" + std::to_string(::getpid());
    const fs::path root = "/sys/fs/cgroup";
    for (const auto& [parent, limit] :
         {std::pair{root / "memory", "memory.limit_in_bytes"}, std::pair{root, "memory.max"}}) {
      std::error_code failed;
      const bool is_version_2 = parent == root;
      if ((is_version_2 && !fs::exists(root / "cgroup.controllers")) ||
          !fs::create_directory(parent / name, failed) || failed) {
        continue;
      }
      path_ = parent / name;
      if (write(path_ / limit, std::to_string(limit_bytes))) {
        is_limited_ = true;
        return;
      }
      fs::remove(path_, failed);
    }
  }
  ~MemoryGroup() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  bool is_limited() const { return is_limited_; }

  /// Runs a program in the group.
  Outcome run(const std::string& program, const std::vector<std::string>& arguments,
              const fs::path& directory) const {
    std::vector<std::string> words = {"-c", R"(echo $$ > "$0"/cgroup.procs && exec "$@")", path_.string(),
                                      program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run_program_at("/bin/sh", words, directory);
  }

 private:
  static bool write(const fs::path& file, const std::string& text) {
    std::ofstream out(file);
    return static_cast<bool>(out << text << std::flush);
  }

  fs::path path_;
  bool is_limited_ = false;
};

/// A graph whose features alone exceed the limit, and what is trained on it.
class MemoryLimit : public testing::Test {
 protected:
  static constexpr std::int64_t limit_bytes = 300'000'000;

  void SetUp() override {
    if (!group_.is_limited()) {
      GTEST_SKIP() << "no memory control group can be made here";
    }
    const auto greedy =
        group_.run("/bin/dd", {"if=/dev/zero", "of=/dev/null", "bs=400M", "count=1"}, place_.path());
    ASSERT_NE(greedy.code, 0) << "the group kills nothing";
    gnomon({"generate", "rmat", "graph", "--scale", "18", "--edge-factor", "4", "--feature-columns", "768",
            "--feature-type", "fp16", "--train-share", "0.005"});
    ASSERT_GT(fs::file_size(place_.path() / "graph" / "features.npy"), 1.3 * limit_bytes);
  }

  void gnomon(const std::vector<std::string>& words) const {
    const auto made = run_gnomon(words, place_.path());
    ASSERT_EQ(made.code, 0) << made.error;
  }

  /// The weights' hash after training by a plan, in the group or without a limit.
  Json trained(const std::string& graph, const std::string& plan, bool limited) const {
    std::vector<std::string> words = {
        "train", graph,      "--json", "--fanouts",    "5,5",           "--hidden",
        "16",    "--epochs", "2",      "--batch-size", "256",           "--evaluate-every",
        "never", "--plan",   plan,     "--run",        "run of " + plan};
    if (limited) {
      words.insert(words.end(), {"--host-memory", std::to_string(limit_bytes)});
    }
    const auto outcome =
        limited ? group_.run(GNOMON_PROGRAM, words, place_.path()) : run_gnomon(words, place_.path());
    EXPECT_EQ(outcome.code, 0) << plan << ": " << outcome.error;
    return outcome.code == 0 ? Json::parse(outcome.out)["weights_hash"] : Json();
  }

  const MemoryGroup group_{limit_bytes};
  const Workplace place_;
};

TEST_F(MemoryLimit, PlansThatReadADiskAreNotKilled) {
  const auto expected = trained("graph", "ns-mem", false);
  for (const char* plan : {"ns-ext", "ginex"}) {
    EXPECT_EQ(trained("graph", plan, true), expected) << plan;
  }
}

TEST_F(MemoryLimit, PlansThatReadMacroBatchesAreNotKilled) {
  gnomon({"partition", "graph", "--parts", "32", "--method", "random", "--store", "parted"});
  // Two macro-batches of 2 of 32 equal parts are an eighth of the graph; those of the preset are half.
  auto plan = base::to_document(plan::find_plan("hanoi"));
  plan["macro"]["partitioner"] = "random";
  plan["macro"]["resident"] = 2;
  base::write_file_atomically(place_.path() / "hanoi.json", plan.dump());
  EXPECT_TRUE(trained("parted", "hanoi.json", true).is_string());
}

}  // namespace
}  // namespace gnomon::apps
