#include "base/usable.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "base/cores.h"

namespace gnomon::base {
namespace {

namespace fs = std::filesystem;

/// Returns the number at the beginning of a file such as cpu.cfs_quota_us, or nothing if the file is absent
/// or holds a word ("max").
std::optional<double> number_in(const fs::path& file) {
  std::ifstream stream(file);
  double number = 0;
  return stream >> number ? std::optional(number) : std::nullopt;
}

std::optional<double> min_of(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::min(*a, *b) : (a ? a : b);
}

/// A control group of this process and the directory of its files.
struct ControlGroup {
  std::string controllers;  ///< for instance "cpu,cpuacct"; empty for version 2
  fs::path directory;
};

/// Returns the groups in /proc/self/cgroup (lines "number:controllers:/path"), each with all its ancestors.
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
    // Inside a container the path may be the host's and not exist here; the loop then ends at the mount
    // point.
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

}  // namespace

std::optional<double> quota_cores(const fs::path& root) {
  std::optional<double> quota;
  for (const auto& group : control_groups(root)) {
    quota = min_of(quota, quota_of(group));
  }
  return quota;
}

std::optional<double> memory_limit_bytes(const fs::path& root) {
  std::optional<double> limit;
  for (const auto& group : control_groups(root)) {
    if (group.controllers.empty()) {
      limit = min_of(limit, number_in(group.directory / "memory.max"));
    } else if (has_controller(group, "memory")) {
      limit = min_of(limit, number_in(group.directory / "memory.limit_in_bytes"));
    }
  }
  return limit;
}

int usable_cores() {
  int cores = static_cast<int>(allowed_core_numbers().size());
  if (const auto quota = quota_cores()) {
    cores = std::min(cores, static_cast<int>(std::floor(*quota)));
  }
  return std::max(cores, 1);
}

std::int64_t available_memory_bytes() {
  std::ifstream stream("/proc/meminfo");
  for (std::string word; stream >> word;) {
    if (double kib = 0; word == "MemAvailable:" && stream >> kib) {
      return static_cast<std::int64_t>(std::min(kib * 1024, usable_memory_bytes()));
    }
  }
  return 0;
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

}  // namespace gnomon::base
