#include "base/directory_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>

#include "base/error.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::base {
namespace {

TEST(DirectoryLock, IsOfOneAtATime) {
  const test::TemporaryDirectory directory;
  std::optional<DirectoryLock> lock(directory.path());
  EXPECT_THROW(DirectoryLock(directory.path()), InputError);
  lock.reset();
  EXPECT_NO_THROW(DirectoryLock(directory.path()));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(DirectoryLock, EndsWithItsProcess) {
  const test::TemporaryDirectory directory;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const DirectoryLock lock(directory.path());
    (void)!write(ready[1], "x", 1);
    pause();
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_THROW(DirectoryLock(directory.path()), InputError);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_NO_THROW(DirectoryLock(directory.path()));
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace gnomon::base
