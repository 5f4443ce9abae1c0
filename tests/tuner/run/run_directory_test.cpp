#include "tuner/run/run_directory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/error.h"

namespace gnomon::tuner {
namespace {

namespace fs = std::filesystem;

class RunDirectory : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = fs::current_path();
    here_ = fs::path(testing::TempDir()) / ("run_directory_" + std::to_string(getpid()));
    fs::remove_all(here_);
    fs::create_directories(here_);
    fs::current_path(here_);
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(here_);
  }
  fs::path before_, here_;
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

TEST_F(RunDirectory, RefusesAFile) {
  std::ofstream("file") << "x";
  EXPECT_THROW(make_run_directory("file", "x"), base::InputError);
  EXPECT_THROW(make_run_directory("file/inside", "x"), base::Failure);
}

}  // namespace
}  // namespace gnomon::tuner
