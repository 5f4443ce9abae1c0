#include "base/host.h"

#include <algorithm>
#include <fstream>
#include <string_view>

namespace gnomon::base {
namespace {

/// The value of the first "key : value" line in a file; empty without one.
std::string value_in(const std::filesystem::path& file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':');
    if (line.starts_with(key) && colon != std::string::npos) {
      const auto begin = line.find_first_not_of(" \t", colon + 1);
      return begin == std::string::npos ? "" : line.substr(begin);
    }
  }
  return "";
}

std::string first_line_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace

std::string cpu_model(const std::filesystem::path& root) {
  return value_in(root / "proc/cpuinfo", "model name");
}

std::vector<std::string> gpu_models(const std::filesystem::path& root) {
  std::vector<std::string> models;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(root / "proc/driver/nvidia/gpus", absent)) {
    models.push_back(value_in(entry.path() / "information", "Model"));
  }
  std::sort(models.begin(), models.end());
  return models;
}

std::string kernel_release(const std::filesystem::path& root) {
  return first_line_of(root / "proc/sys/kernel/osrelease");
}

std::string transparent_huge_pages(const std::filesystem::path& root) {
  const auto line = first_line_of(root / "sys/kernel/mm/transparent_hugepage/enabled");
  const auto begin = line.find('[');
  const auto end = line.find(']');
  return begin < end && end != std::string::npos ? line.substr(begin + 1, end - begin - 1) : "";
}

}  // namespace gnomon::base
