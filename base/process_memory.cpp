#include "base/process_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace gnomon::base {
namespace {

std::string text_of(const char* path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Calls act(line) for each line.
template <class Act>
void for_each_line(std::string_view text, const Act& act) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    act(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

/// The bytes of a line "NAME:  12 kB" with that name; 0 for any other line.
std::int64_t bytes_in(std::string_view line, std::string_view name) {
  if (!line.starts_with(name) || line.substr(name.size(), 1) != ":") {
    return 0;
  }
  const auto digit = line.find_first_of("0123456789");
  std::int64_t kib = 0;
  if (digit != std::string_view::npos) {
    std::from_chars(line.data() + digit, line.data() + line.size(), kib);
  }
  return kib * 1024;
}

/// A mapping, as a line of /proc/self/maps or the first of its lines in smaps describes it.
struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool is_read_only = false;
  std::string_view file;  ///< empty if it is not of a file
};

/// Parses "55d0-55d1 r--p 00000000 fe:00 12  /path"; none for any other line.
std::optional<Mapping> parse_mapping(std::string_view line) {
  Mapping mapping;
  const char* const end = line.data() + line.size();
  const auto first = std::from_chars(line.data(), end, mapping.begin, 16);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') {
    return std::nullopt;
  }
  const auto second = std::from_chars(first.ptr + 1, end, mapping.end, 16);
  const std::string_view rest(second.ptr, static_cast<std::size_t>(end - second.ptr));
  mapping.is_read_only = rest.starts_with(" r--");
  mapping.file = rest.substr(std::min(rest.find('/'), rest.size()));
  return mapping;
}

}  // namespace

ProcessMemory parse_status(std::string_view status) {
  ProcessMemory memory;
  for_each_line(status, [&](std::string_view line) {
    memory.peak_bytes += bytes_in(line, "VmHWM");
    memory.anonymous_bytes += bytes_in(line, "RssAnon");
    memory.file_bytes += bytes_in(line, "RssFile");
  });
  return memory;
}

std::int64_t parse_mapped_bytes(std::string_view smaps, const std::filesystem::path& directory) {
  const std::string prefix = (directory / "").string();
  std::int64_t bytes = 0;
  bool is_below = false;
  for_each_line(smaps, [&](std::string_view line) {
    if (const auto mapping = parse_mapping(line)) {
      is_below = mapping->file.starts_with(prefix);
    } else if (is_below) {
      bytes += bytes_in(line, "Rss");
    }
  });
  return bytes;
}

void release_file_pages(std::span<const std::byte> range) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(range.data());
  for_each_line(text_of("/proc/self/maps"), [&](std::string_view line) {
    const auto mapping = parse_mapping(line);
    if (!mapping || !mapping->is_read_only || mapping->file.empty()) {
      return;
    }
    const auto first = (std::max(begin, mapping->begin) + page - 1) / page * page;
    const auto last = std::min(begin + range.size(), mapping->end) / page * page;
    if (first < last) {
      // The address was read from a file. NOLINTNEXTLINE(performance-no-int-to-ptr)
      ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
    }
  });
}

ProcessMemory process_memory() { return parse_status(text_of("/proc/self/status")); }

std::int64_t mapped_bytes(const std::filesystem::path& directory) {
  std::error_code error;
  const auto absolute = std::filesystem::canonical(directory, error);
  return error ? 0 : parse_mapped_bytes(text_of("/proc/self/smaps"), absolute);
}

}  // namespace gnomon::base
