#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace gnomon::base {

// Facts about this machine that the system knows without measuring. /proc and /sys are read below `root`;
// unknown facts are empty.

/// The processor's model name in /proc/cpuinfo.
std::string cpu_model(const std::filesystem::path& root = "/");

/// The models of the GPUs, as the NVIDIA driver names them.
std::vector<std::string> gpu_models(const std::filesystem::path& root = "/");

/// The kernel's release: "6.1.0-28-amd64".
std::string kernel_release(const std::filesystem::path& root = "/");

/// The setting of transparent huge pages: "always", "madvise" or "never".
std::string transparent_huge_pages(const std::filesystem::path& root = "/");

}  // namespace gnomon::base
