#include "base/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::base {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public ::testing::Test {
 protected:
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }
  const test::TemporaryDirectory temporary_;
  const fs::path& directory_ = temporary_.path();
};

TEST_F(AtomicFileTest, CommitReplacesTheOldFileWhole) {
  const auto path = directory_ / "a";
  write_file_atomically(path, "old");
  {
    AtomicFile file(path);
    file.write("XXXw", 4);
    file.write_at(0, "ne", 2);
    EXPECT_EQ(read_file(path), "old");
    file.write_at(2, "w!", 2);
    file.commit();
  }
  EXPECT_EQ(read_file(path), "new!");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(AtomicFileTest, WithoutCommitNothingChanges) {
  const auto path = directory_ / "a";
  write_file_atomically(path, "old");
  { AtomicFile(path).write("new", 3); }
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(AtomicFileTest, ErrorsNameThePath) {
  try {
    write_file_atomically(directory_ / "missing" / "a", "text");
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_NE(std::string(failure.what())
                  .find((directory_ / "missing" / "a").string() + ": cannot create: No such"),
              std::string::npos);
  }
  EXPECT_THROW(read_file(directory_ / "nothing"), InputError);
  EXPECT_THROW(read_file(directory_), InputError);
}

TEST_F(AtomicFileTest, ADirectoryAppearsWholeOrNotAtAll) {
  const auto path = directory_ / "d";
  {
    AtomicDirectory unfinished(path);
    write_file_atomically(unfinished.path() / "a", "1");
  }
  EXPECT_EQ(entries(), 0U);
  AtomicDirectory finished(path);
  write_file_atomically(finished.path() / "a", "1");
  finished.commit();
  EXPECT_EQ(read_file(path / "a"), "1");
  EXPECT_THROW(AtomicDirectory again(path), InputError);
}

TEST(AtomicDirectory, WhatAKilledProcessLeftIsRemovedAndNothingElse) {
  const test::TemporaryDirectory directory;
  directory.write("d.tmp-left/names.txt", "of another graph");
  directory.write("d.tmp-left-file", "");
  directory.write("dd.tmp-other/a", "");
  AtomicDirectory first(directory.path() / "d");
  AtomicDirectory second(directory.path() / "d");
  EXPECT_NE(first.path(), second.path());
  EXPECT_TRUE(fs::is_empty(first.path())) << "it is in use";
  EXPECT_TRUE(fs::is_empty(second.path()));
  second.commit();
  EXPECT_TRUE(fs::is_empty(directory.path() / "d"));
  EXPECT_FALSE(fs::exists(directory.path() / "d.tmp-left"));
  EXPECT_TRUE(fs::exists(directory.path() / "dd.tmp-other" / "a"));
  EXPECT_EQ(fs::status(directory.path() / "d").permissions(),
            fs::status(directory.path() / "dd.tmp-other").permissions());
}

TEST(AtomicDirectory, MayEndWithASlash) {
  const test::TemporaryDirectory directory;
  AtomicDirectory finished(directory.path() / "d" / "");
  finished.commit();
  EXPECT_THAT(directory.names(), ::testing::ElementsAre("d"));
  EXPECT_THROW(AtomicDirectory again(directory.path() / "d" / ""), InputError);
}

}  // namespace
}  // namespace gnomon::base
