#include "profiles/measure/machine.h"

#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>
#include <sstream>
#include <thread>
#include <vector>

#include "base/error.h"

namespace gnomon::profiles {

namespace {

namespace fs = std::filesystem;

/// The first number of a small file such as cpu.cfs_quota_us; empty when it is absent or no number ("max").
std::optional<double> number_in(const fs::path& file) {
  std::ifstream stream(file);
  double number = 0;
  return stream >> number ? std::optional(number) : std::nullopt;
}

std::optional<double> lower(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::min(*a, *b) : (a ? a : b);
}

/// One control group that this process is in: where its files lie, and the mount point above which no group
/// lies.
struct ControlGroup {
  std::string controllers;  ///< "cpu,cpuacct"; empty for version 2
  fs::path directory;
};

/// The groups in /proc/self/cgroup, lines "number:controllers:/path", each with all groups above it.
std::vector<ControlGroup> control_groups(const fs::path& root) {
  std::vector<ControlGroup> groups;
  std::ifstream stream(root / "proc/self/cgroup");
  for (std::string line; std::getline(stream, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    const auto controllers = line.substr(first + 1, second - first - 1);
    const auto mount = root / "sys/fs/cgroup" / controllers;
    // Inside a container the path may be the host's and not exist here: the loop then ends at the mount.
    for (auto path = fs::path(line.substr(second + 1)).relative_path();; path = path.parent_path()) {
      groups.push_back({controllers, mount / path});
      if (path.empty()) {
        break;
      }
    }
  }
  return groups;
}

bool has_controller(const ControlGroup& group, const std::string& name) {
  return ("," + group.controllers + ",").find("," + name + ",") != std::string::npos;
}

std::optional<double> quota_of(const ControlGroup& group) {
  double quota = 0;
  double period = 0;
  if (group.controllers.empty()) {
    std::ifstream stream(group.directory / "cpu.max");  // "150000 100000" or "max 100000"
    if (!(stream >> quota >> period)) {
      return std::nullopt;
    }
  } else if (has_controller(group, "cpu")) {
    quota = number_in(group.directory / "cpu.cfs_quota_us").value_or(-1);
    period = number_in(group.directory / "cpu.cfs_period_us").value_or(0);
  }
  return quota > 0 && period > 0 ? std::optional(quota / period) : std::nullopt;
}

/// Sums the words, so that the compiler cannot leave the reads out.
std::uint64_t sum_of(const std::uint64_t* words, std::size_t count) {
  return std::accumulate(words, words + count, std::uint64_t{0});
}

/// Threads that read a buffer each, all at once, whenever asked.
class Readers {
 public:
  Readers(int threads, std::size_t bytes_each)
      : words_(bytes_each / sizeof(std::uint64_t)),
        gate_(threads + 1),
        sums_(static_cast<std::size_t>(threads)) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this, i] { loop(static_cast<std::size_t>(i)); });
    }
    gate_.arrive_and_wait();  // every thread has written its own buffer, so that it lies near its core
  }
  ~Readers() {
    ending_ = true;
    gate_.arrive_and_wait();
    for (auto& thread : threads_) {
      thread.join();
    }
  }
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  /// Seconds until all threads have read their buffers once.
  double read_once() {
    gate_.arrive_and_wait();
    const Stopwatch watch;
    gate_.arrive_and_wait();
    return watch.seconds();
  }
  double bytes() const {
    return static_cast<double>(words_ * sizeof(std::uint64_t)) * static_cast<double>(threads_.size());
  }

 private:
  void loop(std::size_t index) {
    const std::vector<std::uint64_t> buffer(words_, index + 1);
    gate_.arrive_and_wait();
    while (true) {
      gate_.arrive_and_wait();
      if (ending_) {
        return;
      }
      sums_[index] += sum_of(buffer.data(), words_);
      gate_.arrive_and_wait();
    }
  }
  std::size_t words_;
  std::barrier<> gate_;
  std::vector<std::uint64_t> sums_;
  std::atomic<bool> ending_ = false;
  std::vector<std::thread> threads_;
};

std::size_t cache_bytes(int level, std::size_t otherwise) {
  const long bytes = sysconf(level);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : otherwise;
}

/// Bytes a second of all cores reading memory that no cache holds.
double read_bandwidth(int cores, const MachineOptions& options, bool& converged) {
  const std::size_t last_cache = cache_bytes(_SC_LEVEL3_CACHE_SIZE, std::size_t{32} << 20);
  const auto room = static_cast<std::size_t>(usable_memory_bytes() / 8);
  const std::size_t total = std::min(std::max(2 * last_cache, std::size_t{32} << 20), room);
  Readers readers(cores, total / static_cast<std::size_t>(cores));
  readers.read_once();
  const auto time = measure_until(options.rule, [&] {
    throw_if_stopped(options.stop);
    return readers.read_once();
  });
  converged = converged && time.converged;
  return readers.bytes() / time.mean_s;
}

/// Bytes a second that one core copies, in pieces larger than its own cache.
double copy_bandwidth(const MachineOptions& options, bool& converged) {
  const std::size_t own_cache = cache_bytes(_SC_LEVEL2_CACHE_SIZE, std::size_t{1} << 20);
  const std::size_t bytes = std::max({options.copy_bytes, 4 * own_cache, std::size_t{4} << 20});
  const std::vector<std::byte> source(bytes, std::byte{1});
  std::vector<std::byte> target(bytes);
  const auto copy = [&] {
    throw_if_stopped(options.stop);
    const Stopwatch watch;
    std::memcpy(target.data(), source.data(), bytes);
    return watch.seconds();
  };
  copy();
  const auto time = measure_until(options.rule, copy);
  converged = converged && time.converged;
  return static_cast<double>(bytes) / time.mean_s;
}

}  // namespace

void throw_if_stopped(const std::atomic<bool>* stop) {
  if (stop != nullptr && stop->load()) {
    throw base::Interrupted();
  }
}

std::optional<double> quota_cores(const fs::path& root) {
  std::optional<double> least;
  for (const auto& group : control_groups(root)) {
    least = lower(least, quota_of(group));
  }
  return least;
}

std::optional<double> memory_limit_bytes(const fs::path& root) {
  std::optional<double> least;
  for (const auto& group : control_groups(root)) {
    if (group.controllers.empty()) {
      least = lower(least, number_in(group.directory / "memory.max"));
    } else if (has_controller(group, "memory")) {
      least = lower(least, number_in(group.directory / "memory.limit_in_bytes"));
    }
  }
  return least;
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    cores = CPU_COUNT(&set);
  }
  if (const auto quota = quota_cores()) {
    cores = std::min(cores, static_cast<int>(std::floor(*quota)));
  }
  return std::max(cores, 1);
}

double usable_memory_bytes() {
  struct sysinfo info {};
  double bytes = 0;
  if (sysinfo(&info) == 0) {
    bytes = static_cast<double>(info.totalram) * info.mem_unit;
  }
  const auto limit = memory_limit_bytes();
  return limit && (bytes == 0 || *limit < bytes) ? *limit : bytes;
}

std::string cpu_name() {
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown CPU";
}

MachineProfile measure_machine(const MachineOptions& options, bool& converged) {
  MachineProfile machine;
  std::string host(256, '\0');
  if (gethostname(host.data(), host.size() - 1) == 0) {
    machine.name = host.c_str();
  }
  machine.cpu.name = cpu_name();
  machine.cpu.cores = usable_cores();
  machine.cpu.memory_bytes = usable_memory_bytes();
  base::report(options.progress, "memory bandwidth", 0, 2);
  machine.cpu.memory_bandwidth_bytes_per_s = read_bandwidth(machine.cpu.cores, options, converged);
  base::report(options.progress, "copy bandwidth", 1, 2);
  machine.cpu.copy_bandwidth_bytes_per_s = copy_bandwidth(options, converged);
  machine.device = {DeviceKind::host, machine.cpu.name, machine.cpu.memory_bytes};
  return machine;
}

}  // namespace gnomon::profiles
