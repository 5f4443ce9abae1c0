#include "base/fork_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace gnomon::base {
namespace {

/// All bytes until the other end is closed.
std::string read_all(int socket) {
  std::string all;
  std::array<char, 256> bytes{};
  for (ssize_t n = ::read(socket, bytes.data(), bytes.size()); n > 0;
       n = ::read(socket, bytes.data(), bytes.size())) {
    all.append(bytes.data(), static_cast<std::size_t>(n));
  }
  ::close(socket);
  return all;
}

/// Sends one byte and returns all that is answered.
std::string ask(const ForkServer& processes, char what) {
  const int socket = processes.open();
  EXPECT_EQ(::write(socket, &what, 1), 1);
  return read_all(socket);
}

/// Reads one byte and does what it says.
void obey(int socket) {
  char what = 0;
  if (::read(socket, &what, 1) != 1) {
    return;
  }
  switch (what) {
    case 'c':
      std::raise(SIGKILL);
      break;
    case 't':
      throw std::runtime_error("work failed");
    case 'f': {  // work that forks and waits for its own process
      const pid_t child = ::fork();
      if (child == 0) {
        ::_exit(7);
      }
      int status = 0;
      ::waitpid(child, &status, 0);
      what = WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 'F' : '?';
      break;
    }
    default:
      break;
  }
  [[maybe_unused]] const auto written = ::write(socket, &what, 1);
}

TEST(ForkServer, AnswersEachRequest) {
  const ForkServer processes(obey);
  EXPECT_EQ(ask(processes, 'x'), "x");
  EXPECT_EQ(ask(processes, 'y'), "y");
}

TEST(ForkServer, CrashesEndTheirRequestOnly) {
  const ForkServer processes(obey);
  EXPECT_EQ(ask(processes, 'c'), "");
  EXPECT_EQ(ask(processes, 't'), "");
  EXPECT_EQ(ask(processes, 'x'), "x");
}

TEST(ForkServer, WorkMayForkItself) {
  const ForkServer processes(obey);
  EXPECT_EQ(ask(processes, 'f'), "F");
}

TEST(ForkServer, ServesThreadsAtOnce) {
  const ForkServer processes(obey);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&processes, i] {
      for (int j = 0; j < 10; ++j) {
        EXPECT_EQ(ask(processes, static_cast<char>('0' + i)), std::string(1, static_cast<char>('0' + i)));
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

TEST(ForkServer, EndsWhatItHasForked) {
  int socket = -1;
  {
    const ForkServer processes([](int) { ::pause(); });
    socket = processes.open();
  }
  EXPECT_EQ(read_all(socket), "") << "returns only when the process has ended";
}

}  // namespace
}  // namespace gnomon::base
