#include "base/watched_program.h"

#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>

#include "base/error.h"
#include "base/pipe.h"

namespace gnomon::base {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int report_file = 3;
constexpr int wait_ms = 100;
constexpr auto patience = std::chrono::seconds(10);

/// Spawn attributes: default signal dispositions, as from a shell, and a process group of its own.
class SpawnSettings {
 public:
  SpawnSettings(int out, int error, int report) {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, error, STDERR_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, report, report_file);
    ::posix_spawnattr_init(&attributes);
    sigset_t signals;
    sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes, &signals);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) {
      sigaddset(&signals, signal);
    }
    ::posix_spawnattr_setsigdefault(&attributes, &signals);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes,
                               POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};
};

/// This process's environment plus the descriptor of the report file.
std::vector<std::string> environment() {
  const std::string prefix = std::string(report_file_variable) + "=";
  std::vector<std::string> variables{prefix + std::to_string(report_file)};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with(prefix)) {
      variables.emplace_back(*variable);
    }
  }
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

/// A running program. The destructor kills it.
class Running {
 public:
  Running(const std::string& program, const std::vector<std::string>& arguments)
      : out_(program), error_(program), report_(program) {
    std::vector<std::string> command{program};
    command.insert(command.end(), arguments.begin(), arguments.end());
    auto variables = environment();
    const SpawnSettings settings(out_.write_end(), error_.write_end(), report_.write_end());
    const int fault = ::posix_spawn(&id_, program.c_str(), &settings.files, &settings.attributes,
                                    pointers_to(command).data(), pointers_to(variables).data());
    if (fault != 0) {
      throw Failure(program, std::string("cannot be started: ") + std::strerror(fault));
    }
    for (Pipe* pipe : {&out_, &error_, &report_}) {
      pipe->close_write_end();
    }
  }
  ~Running() {
    if (!has_ended_) {
      signal(SIGKILL);
      wait();
    }
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void signal(int number) const { ::kill(-id_, number); }

  /// Waits a moment for output. Returns false when the program has closed its standard output and error.
  bool receive() {
    std::array<pollfd, 3> files{{{is_open_[0] ? out_.read_end() : -1, POLLIN, 0},
                                 {is_open_[1] ? error_.read_end() : -1, POLLIN, 0},
                                 {is_open_[2] ? report_.read_end() : -1, POLLIN, 0}}};
    if (::poll(files.data(), files.size(), wait_ms) > 0) {
      for (std::size_t i = 0; i < files.size(); ++i) {
        if (files[i].revents != 0) {
          is_open_[i] = take(files[i].fd, received_[i]);
        }
      }
    }
    return is_open_[0] || is_open_[1];
  }

  /// Returns the next complete reported line; empty if there is none.
  std::string next_report() {
    auto& text = received_[2];
    const auto end = text.find('\n');
    if (end == std::string::npos) {
      return "";
    }
    auto line = text.substr(0, end);
    text.erase(0, end + 1);
    return line;
  }

  ProgramOutcome outcome() {
    const int status = wait();
    return {WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status), std::move(received_[0]),
            std::move(received_[1]), false};
  }

 private:
  static bool take(int file, std::string& text) {
    char buffer[1 << 16];
    const auto bytes = ::read(file, buffer, sizeof buffer);
    if (bytes > 0) {
      text.append(buffer, static_cast<std::size_t>(bytes));
    }
    return bytes > 0 || (bytes < 0 && errno == EINTR);
  }

  int wait() {
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    has_ended_ = true;
    return status;
  }

  Pipe out_, error_, report_;
  pid_t id_ = -1;
  bool has_ended_ = false;
  std::array<bool, 3> is_open_{true, true, true};
  std::array<std::string, 3> received_;
};

}  // namespace

ProgramOutcome run_watched(const std::string& program, const std::vector<std::string>& arguments,
                           const Watcher& watch) {
  Running running(program, arguments);
  bool interrupted = false;
  Clock::time_point deadline;
  const auto tell = [&](const std::string& line) {
    if (!interrupted && watch && watch(line)) {
      interrupted = true;
      deadline = Clock::now() + patience;
      running.signal(SIGINT);
    }
  };
  while (running.receive()) {
    tell("");
    for (auto line = running.next_report(); !line.empty(); line = running.next_report()) {
      tell(line);
    }
    if (interrupted && Clock::now() > deadline) {
      running.signal(SIGKILL);
    }
  }
  auto outcome = running.outcome();
  outcome.interrupted = interrupted;
  return outcome;
}

}  // namespace gnomon::base
