#include "tuner/run/run_directory.h"

#include <gtest/gtest.h>

#include <fstream>

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

TEST_F(RunDirectory, RefusesAFile) {
  std::ofstream("file") << "x";
  EXPECT_THROW(make_run_directory("file", "x"), base::InputError);
  EXPECT_THROW(make_run_directory("file/inside", "x"), base::Failure);
}

}  // namespace
}  // namespace gnomon::tuner
