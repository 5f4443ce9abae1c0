#include "base/output_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/fixtures/message_of.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::base {
namespace {

namespace fs = std::filesystem;

class OutputFile : public ::testing::Test {
 protected:
  std::string fault(const std::string& name) const {
    return test::message_of(here_.path(), [&] { check_output(here_ / name); });
  }
  const test::TemporaryDirectory here_;
};

TEST_F(OutputFile, ChecksWithoutLeavingAnything) {
  here_.write("old.json", "old");
  EXPECT_EQ(fault("new.json"), "no error");
  EXPECT_EQ(fault("old.json"), "no error");
  EXPECT_EQ(read_file(here_ / "old.json"), "old");
  EXPECT_EQ(here_.names(), std::vector<std::string>{"old.json"});
}

TEST_F(OutputFile, RefusesWhatCannotBeWritten) {
  fs::create_directory(here_ / "directory");
  here_.write("file", "");
  EXPECT_NE(fault("nowhere/p.json").find("nowhere/p.json: the directory "), std::string::npos);
  EXPECT_NE(fault("nowhere/p.json").find("does not exist"), std::string::npos);
  EXPECT_EQ(fault("directory"), "directory: is a directory; name a file in it");
  EXPECT_NE(fault("file/p.json").find("is not a directory"), std::string::npos);
  EXPECT_NE(fault(std::string(300, 'x')).find("File name too long"), std::string::npos);
  EXPECT_THROW(check_output("/dev/null"), InputError);
  EXPECT_THROW(check_output(""), InputError);
}

TEST_F(OutputFile, ARefusedDirectoryIsTold) {
  fs::create_directory(here_ / "closed");
  fs::permissions(here_ / "closed", fs::perms::owner_read | fs::perms::owner_exec);
  if (::access((here_ / "closed").c_str(), W_OK) == 0) {
    GTEST_SKIP() << "root may write anywhere";
  }
  EXPECT_NE(fault("closed/p.json").find("Permission denied"), std::string::npos);
}

TEST_F(OutputFile, AResultThatCannotBeWrittenIsKeptElsewhere) {
  const auto message =
      test::message_of<Failure>(here_.path(), [&] { write_output(here_ / "removed/p.json", "the result"); });
  const std::string mark = "the result is kept in ";
  const auto at = message.find(mark);
  ASSERT_NE(at, std::string::npos) << message;
  EXPECT_EQ(message.substr(0, 15), "removed/p.json:") << message;
  const fs::path kept = message.substr(at + mark.size());
  EXPECT_EQ(kept.filename(), "p.json");
  EXPECT_EQ(read_file(kept), "the result");
  fs::remove_all(kept.parent_path());
}

TEST_F(OutputFile, WritesWhereItIsAsked) {
  EXPECT_EQ(
      try_write_output(here_ / "p.json", [](const fs::path& path) { write_file_atomically(path, "x"); }), "");
  EXPECT_EQ(read_file(here_ / "p.json"), "x");
}

}  // namespace
}  // namespace gnomon::base
