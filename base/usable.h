#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace gnomon::base {

/// Returns the number of cores that this process may use: the size of its CPU affinity, limited by the CPU
/// quota of its control group; at least 1.
int usable_cores();

/// Returns the bytes of memory that this process may use: the machine's RAM, limited by the control group.
double usable_memory_bytes();

/// Returns the memory in bytes that is available without swapping (MemAvailable), at most
/// usable_memory_bytes(); 0 if unknown.
std::int64_t available_memory_bytes();

/// The CPU quota in cores (1.5 is one and a half) and the memory limit in bytes: the minimum over this
/// process's control group and all its ancestors, or nothing without a limit. Supports control groups of
/// versions 1 and 2; /proc and /sys are read below `root`.
std::optional<double> quota_cores(const std::filesystem::path& root = "/");
std::optional<double> memory_limit_bytes(const std::filesystem::path& root = "/");

}  // namespace gnomon::base
