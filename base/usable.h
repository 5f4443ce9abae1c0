#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace gnomon::base {

/// Cores this process may use: its affinity mask, cut by the control group's CPU quota; at least 1.
int usable_cores();

/// Bytes of memory this process may use: the machine's, cut by the control group's limit.
double usable_memory_bytes();

/// The memory that the system says it can give without paging, cut as usable_memory_bytes; 0 when it does not
/// say.
std::int64_t available_memory_bytes();

/// The CPU quota in cores (1.5 is one and a half) and the memory limit of this process's control group and
/// all groups above it, whichever is the lowest; empty without a limit. Versions 1 and 2 of control groups;
/// `root` is where /proc and /sys are looked for.
std::optional<double> quota_cores(const std::filesystem::path& root = "/");
std::optional<double> memory_limit_bytes(const std::filesystem::path& root = "/");

}  // namespace gnomon::base
