#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace gnomon::base {

/// This process's memory in bytes, as the kernel counts it (proc(5), /proc/self/status).
struct ProcessMemory {
  std::int64_t peak_bytes = 0;       ///< the maximum resident so far (VmHWM)
  std::int64_t anonymous_bytes = 0;  ///< resident, not backed by files (RssAnon)
  std::int64_t file_bytes = 0;       ///< resident pages of mapped files: programs, libraries, data (RssFile)
};

/// Returns zeros where /proc cannot be read.
ProcessMemory process_memory();

/// Returns the resident bytes of this process's mappings of files in `directory` or below it.
std::int64_t mapped_bytes(const std::filesystem::path& directory);

/// Makes the pages of mapped files in the range no longer resident; they are read again when they are next
/// used. Does nothing to memory that is not a read-only mapping of a file.
void release_file_pages(std::span<const std::byte> range);

/// Parse the texts of a status file and of an smaps file. Missing lines count as 0.
ProcessMemory parse_status(std::string_view status);
std::int64_t parse_mapped_bytes(std::string_view smaps, const std::filesystem::path& directory);

}  // namespace gnomon::base
