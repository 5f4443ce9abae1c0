#include "base/processes.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"

namespace gnomon::base {
namespace {

enum class Outcome : std::uint8_t { done, input_error, failure };

/// Precedes every answer in a pipe.
struct Header {
  std::int64_t index = 0;
  std::uint64_t bytes = 0;
  Outcome outcome = Outcome::done;
};

struct Answer {
  Outcome outcome = Outcome::done;
  std::string text;
};

Answer answer_of(const std::function<std::string(std::int64_t)>& work, std::int64_t index) {
  try {
    return {Outcome::done, work(index)};
  } catch (const InputError& error) {
    return {Outcome::input_error, error.what()};
  } catch (const std::exception& error) {
    return {Outcome::failure, error.what()};
  }
}

std::string value_of(const Answer& answer) {
  switch (answer.outcome) {
    case Outcome::input_error:
      throw InputError(answer.text);
    case Outcome::failure:
      throw Failure(answer.text);
    case Outcome::done:
      break;
  }
  return answer.text;
}

bool write_all(int file, const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const auto written = write(file, at, bytes);
    if (written < 0 && errno != EINTR) {
      return false;
    }
    at += std::max<ssize_t>(0, written);
    bytes -= static_cast<std::size_t>(std::max<ssize_t>(0, written));
  }
  return true;
}

/// A forked process that sends answers through a pipe. The destructor kills it.
class Process {
 public:
  explicit Process(const std::function<bool(int file)>& body) {
    int ends[2];
    if (pipe(ends) != 0) {
      throw Failure("pipe", std::strerror(errno));
    }
    id_ = fork();
    if (id_ == 0) {
      close(ends[0]);
      std::signal(SIGINT, SIG_IGN);  // the parent handles Ctrl-C and kills its children
      _exit(body(ends[1]) ? 0 : 1);
    }
    close(ends[1]);
    file_ = ends[0];
    if (id_ < 0) {
      close(file_);
      throw Failure("fork", std::strerror(errno));
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    close(file_);
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }

  int file() const { return file_; }

  /// Reads the bytes that have arrived. Returns false at the end of the pipe.
  bool receive() {
    char buffer[1 << 16];
    const auto bytes = read(file_, buffer, sizeof buffer);
    if (bytes > 0) {
      received_.append(buffer, static_cast<std::size_t>(bytes));
    }
    return bytes > 0 || (bytes < 0 && errno == EINTR);
  }

  /// Returns the next complete answer that was received, with its index.
  std::optional<std::pair<std::int64_t, Answer>> next() {
    Header header;
    if (received_.size() - at_ < sizeof header) {
      return std::nullopt;
    }
    std::memcpy(&header, received_.data() + at_, sizeof header);
    if (received_.size() - at_ - sizeof header < header.bytes) {
      return std::nullopt;
    }
    Answer answer{header.outcome, received_.substr(at_ + sizeof header, header.bytes)};
    at_ += sizeof header + header.bytes;
    if (at_ > received_.size() / 2) {
      received_.erase(0, std::exchange(at_, 0));
    }
    return std::pair{header.index, std::move(answer)};
  }

 private:
  pid_t id_ = -1;
  int file_ = -1;
  std::string received_;
  std::size_t at_ = 0;
};

/// Starts a process for the indices first, first + jobs, first + 2·jobs, …
std::unique_ptr<Process> start(std::int64_t first, std::int64_t count, int jobs,
                               const std::function<std::string(std::int64_t)>& work) {
  return std::make_unique<Process>([&](int file) {
    for (std::int64_t index = first; index < count; index += jobs) {
      const Answer answer = answer_of(work, index);
      const Header header{index, answer.text.size(), answer.outcome};
      if (!write_all(file, &header, sizeof header) ||
          !write_all(file, answer.text.data(), answer.text.size())) {
        return false;
      }
    }
    return true;
  });
}

/// Waits until at least one process has sent data, or for 100 ms, and returns the indices of those that have.
std::vector<std::size_t> wait_for_any(const std::vector<std::unique_ptr<Process>>& processes) {
  std::vector<pollfd> files;
  for (const auto& process : processes) {
    files.push_back({process->file(), POLLIN, 0});
  }
  if (poll(files.data(), files.size(), 100) < 0 && errno != EINTR) {
    throw Failure("poll", std::strerror(errno));
  }
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].revents != 0) {
      ready.push_back(i);
    }
  }
  return ready;
}

std::vector<Answer> collect(std::vector<std::unique_ptr<Process>> processes, std::int64_t count,
                            const Progress& progress, std::string_view what) {
  std::vector<Answer> answers(static_cast<std::size_t>(count));
  std::int64_t num_received = 0;
  while (num_received < count) {
    report(progress, what, num_received, count);
    for (const std::size_t i : wait_for_any(processes)) {
      const bool is_open = processes[i]->receive();
      while (auto answer = processes[i]->next()) {
        answers[static_cast<std::size_t>(answer->first)] = std::move(answer->second);
        ++num_received;
      }
      if (!is_open && num_received < count) {
        processes[i].reset();
      }
    }
    std::erase(processes, nullptr);
    if (processes.empty() && num_received < count) {
      throw Failure("worker process", "exited before its work was done");
    }
  }
  return answers;
}

}  // namespace

std::vector<std::string> in_processes(std::int64_t count, int jobs,
                                      const std::function<std::string(std::int64_t)>& work,
                                      const Progress& progress, std::string_view what) {
  std::vector<std::string> values;
  jobs = static_cast<int>(std::min<std::int64_t>(jobs, count));
  if (jobs <= 1) {
    for (std::int64_t index = 0; index < count; ++index) {
      report(progress, what, index, count);
      values.push_back(work(index));
    }
    return values;
  }
  std::vector<std::unique_ptr<Process>> processes;
  for (int first = 0; first < jobs; ++first) {
    processes.push_back(start(first, count, jobs, work));
  }
  for (const Answer& answer : collect(std::move(processes), count, progress, what)) {
    values.push_back(value_of(answer));
  }
  return values;
}

}  // namespace gnomon::base
