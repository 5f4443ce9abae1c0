#include "apps/host_facts.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/cores.h"

namespace gnomon::apps {
namespace {

/// The value of the first "key : value" line in a file; empty without one.
std::string value_in(const std::filesystem::path& file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':');
    if (line.rfind(key, 0) == 0 && colon != std::string::npos) {
      const auto begin = line.find_first_not_of(" \t", colon + 1);
      return begin == std::string::npos ? "" : line.substr(begin);
    }
  }
  return "";
}

std::vector<std::string> gpu_names() {
  std::vector<std::string> names;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", absent)) {
    names.push_back(value_in(entry.path() / "information", "Model"));
  }
  return names;
}

}  // namespace

HostFacts host_facts() {
  const auto cores = base::allowed_cores();
  return {.cpu = value_in("/proc/cpuinfo", "model name"),
          .cores = static_cast<int>(cores.size()),
          .physical_cores = base::physical_cores(cores),
          .node_cores = base::cores_of_nodes(cores),
          .memory_bytes =
              static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE)),
          .gpus = gpu_names()};
}

}  // namespace gnomon::apps
