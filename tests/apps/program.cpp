#include "program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace gnomon::apps {
namespace {

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// In the child: sends a stream to a file.
void redirect(int descriptor, const std::filesystem::path& file) {
  const int to = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (to < 0 || ::dup2(to, descriptor) < 0) {
    ::_exit(126);
  }
}

/// In the child: an upper limit that it cannot lift again.
void limit(__rlimit_resource resource, std::size_t most) {
  const rlimit both{most, most};
  if (::setrlimit(resource, &both) != 0) {
    ::_exit(126);
  }
}

}  // namespace

RunningProgram::RunningProgram(const std::filesystem::path& program,
                               const std::vector<std::string>& arguments,
                               const std::filesystem::path& directory,
                               std::optional<std::size_t> max_file_bytes) {
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (auto& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  child_ = ::fork();
  if (child_ == 0) {
    redirect(STDOUT_FILENO, streams_.path() / "out");
    redirect(STDERR_FILENO, streams_.path() / "error");
    if (max_file_bytes) {
      limit(RLIMIT_FSIZE, *max_file_bytes);
      limit(RLIMIT_CORE, 0);
    }
    if (::chdir(directory.c_str()) == 0) {
      ::execv(argv[0], argv.data());
    }
    ::_exit(127);
  }
  if (child_ < 0) {
    throw std::runtime_error("cannot run " + program.string());
  }
}

RunningProgram::~RunningProgram() {
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
}

void RunningProgram::signal(int number) const { ::kill(child_, number); }

Outcome RunningProgram::wait() {
  int status = 0;
  if (::waitpid(child_, &status, 0) != child_) {
    throw std::runtime_error("cannot wait for a program");
  }
  child_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          content_of(streams_.path() / "out"), content_of(streams_.path() / "error")};
}

Outcome run_program_at(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                       const std::filesystem::path& directory) {
  return RunningProgram(program, arguments, directory).wait();
}

Outcome run_gnomon(const std::vector<std::string>& arguments, const std::filesystem::path& directory) {
  return run_program_at(GNOMON_PROGRAM, arguments, directory);
}

base::Json small_profile() {
  return base::Json::parse(R"({
    "schema": "gnomon.profile/1",
    "machine": {"name": "small", "cpu": {"cores": 4, "copy_bandwidth_bytes_per_s": 1e10},
                "device": {"kind": "host"}},
    "workload": {"graph": "g", "batches": 60,
                 "cpu_batch": {"mean_s": 0.02, "deviation_s": 0.002}, "transfer": {"mean_s": 0.001},
                 "device_batch": {"mean_s": 0.015}, "train": {"mean_s": 0.03}}})");
}

}  // namespace gnomon::apps
