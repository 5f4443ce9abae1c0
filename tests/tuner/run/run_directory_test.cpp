#include "tuner/run/run_directory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "base/directory_lock.h"
#include "base/error.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::tuner {
namespace {

namespace fs = std::filesystem;

class RunDirectory : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = fs::current_path();
    fs::current_path(here_.path());
  }
  void TearDown() override { fs::current_path(before_); }

  const test::TemporaryDirectory here_;
  fs::path before_;
};

TEST_F(RunDirectory, CountsUp) {
  EXPECT_EQ(make_run_directory("", "stores/cora").directory, "runs/cora-1");
  EXPECT_EQ(make_run_directory("", "stores/cora/").directory, "runs/cora-2");
  EXPECT_EQ(make_run_directory("", "else/arxiv.csv.gz").directory, "runs/arxiv-1");
  EXPECT_TRUE(fs::is_directory("runs/cora-2"));
}

TEST_F(RunDirectory, TakesTheAskedOneNewOrOld) {
  EXPECT_EQ(make_run_directory("a/b", "x").directory, "a/b");
  EXPECT_TRUE(fs::is_directory("a/b"));
  EXPECT_EQ(make_run_directory("a/b", "x").directory, "a/b");
}

TEST_F(RunDirectory, RefusesARunAndOtherFiles) {
  const test::TemporaryDirectory& here = here_;
  here.write("run/job.json", "{}");
  here.write("run/plan.json", "{}");
  here.write("run/notes.txt", "mine");
  EXPECT_THROW(make_run_directory("run", "x"), base::InputError);
  here.write("killed/checkpoint.pt", "");
  EXPECT_THROW(check_run_directory("killed"), base::InputError);
  // Documents that a user wrote where no run is.
  here.write("work/profile.json", "{}");
  here.write("work/plan.json", "{}");
  EXPECT_THROW(make_run_directory("work", "x", ExistingRun::overwrite), base::InputError);
  EXPECT_TRUE(fs::exists("work/plan.json") && fs::exists("run/plan.json"));
}

TEST_F(RunDirectory, SaysThatARunGoesOn) {
  const auto fault = [] {
    try {
      check_run_directory("run");
    } catch (const base::InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  here_.write("run/job.json", "{}");
  EXPECT_NE(fault().find("gnomon train --resume"), std::string::npos) << fault();
  const base::DirectoryLock lock("run");
  EXPECT_EQ(fault(),
            "run: holds a run of another process of gnomon, which goes on; wait for it, or name "
            "another directory");
}

TEST_F(RunDirectory, OverwritingRemovesTheRunAndNothingElse) {
  for (const auto& file : RunFiles{"run"}.all()) {
    here_.write(file.string(), "old");
  }
  here_.write("run/notes.txt", "mine");
  here_.write("run/graph/meta.json", "{}");
  EXPECT_NO_THROW(check_run_directory("run", ExistingRun::overwrite));
  EXPECT_TRUE(fs::exists("run/report.json")) << "a check changes nothing";
  make_run_directory("run", "x", ExistingRun::overwrite);
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator("run")) {
    left.push_back(entry.path().filename());
  }
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (std::vector<std::string>{"graph", "notes.txt"}));
}

TEST_F(RunDirectory, RefusesAFile) {
  std::ofstream("file") << "x";
  EXPECT_THROW(make_run_directory("file", "x"), base::InputError);
  EXPECT_THROW(make_run_directory("file/inside", "x"), base::Failure);
}

}  // namespace
}  // namespace gnomon::tuner
