#include "base/run_program.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/pipe.h"

namespace gnomon::base {
namespace {

std::string read_all(int file) {
  std::string text;
  char buffer[4096];
  while (true) {
    const auto bytes = ::read(file, buffer, sizeof buffer);
    if (bytes > 0) {
      text.append(buffer, static_cast<std::size_t>(bytes));
    } else if (bytes == 0 || errno != EINTR) {
      return text;
    }
  }
}

int wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

std::string output_of(const std::string& program, const std::vector<std::string>& arguments) {
  Pipe pipe(program);
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const auto& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, pipe.write_end(), STDOUT_FILENO);
  pid_t process = -1;
  const int error = ::posix_spawn(&process, program.c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw Failure(program, std::string("cannot be started: ") + std::strerror(error));
  }
  pipe.close_write_end();
  auto text = read_all(pipe.read_end());
  if (const int status = wait_for(process); !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw Failure(program, WIFSIGNALED(status)
                               ? "was killed by signal " + std::to_string(WTERMSIG(status))
                               : "ended with exit code " + std::to_string(WEXITSTATUS(status)));
  }
  return text;
}

}  // namespace gnomon::base
