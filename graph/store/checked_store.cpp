#include "graph/store/checked_store.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/crc32.h"
#include "base/document.h"
#include "base/error.h"
#include "base/process_memory.h"
#include "graph/store/mapped_file.h"
#include "graph/trainable.h"
#include "graph/workers.h"

namespace gnomon::graph {
namespace {

constexpr const char* mark_name = "checked.json";
constexpr std::int64_t block_bytes = std::int64_t{1} << 26;

struct FileMark {
  std::string name;
  std::int64_t bytes = 0;
  std::int64_t changed_ns = 0;            ///< since the epoch of the file system's clock
  std::vector<std::uint32_t> crc32 = {};  ///< of each block of Mark::block_bytes, the last one smaller
  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("name", self.name);
    f.required("bytes", self.bytes);
    f.required("changed_ns", self.changed_ns);
    f.required("crc32", self.crc32);
  }
};

/// The content of checked.json.
struct Mark {
  static constexpr std::string_view schema = "gnomon.checked/2";
  std::int64_t block_bytes = graph::block_bytes;
  std::vector<FileMark> files;  ///< all that end in .npy, and meta.json, by name
  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("block_bytes", self.block_bytes, base::Range{1, 0x1p40});
    f.required("files", self.files);
  }
};

std::int64_t nanoseconds(std::filesystem::file_time_type time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

/// The sizes and times of a store's files, without checksums.
Mark current(const std::filesystem::path& directory) {
  Mark mark;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".npy" || entry.path().filename() == "meta.json") {
      mark.files.push_back({entry.path().filename().string(), static_cast<std::int64_t>(entry.file_size()),
                            nanoseconds(entry.last_write_time())});
    }
  }
  std::sort(mark.files.begin(), mark.files.end(),
            [](const FileMark& a, const FileMark& b) { return a.name < b.name; });
  return mark;
}

/// Reads the store's mark if it exists and is valid; otherwise a new one is written later.
std::optional<Mark> read_mark(const std::filesystem::path& directory) {
  try {
    const auto path = directory / mark_name;
    return std::filesystem::exists(path) ? std::optional(base::read_document<Mark>(path)) : std::nullopt;
  } catch (const base::InputError&) {
    return std::nullopt;
  }
}

bool is_same_file(const FileMark& a, const FileMark& b) { return a.name == b.name && a.bytes == b.bytes; }
bool is_unchanged(const FileMark& a, const FileMark& b) {
  return is_same_file(a, b) && a.changed_ns == b.changed_ns;
}

template <class Same>
bool all_files(const Mark& a, const Mark& b, Same same) {
  return std::equal(a.files.begin(), a.files.end(), b.files.begin(), b.files.end(), same);
}

/// Whether any later change of a file is certain to change its time, given the clock's resolution.
bool is_settled(const Mark& mark) {
  const std::int64_t now = nanoseconds(std::filesystem::file_time_type::clock::now());
  return std::all_of(mark.files.begin(), mark.files.end(),
                     [&](const FileMark& file) { return file.changed_ns < now - 1'000'000'000; });
}

/// Reads a file on all cores; its pages do not stay resident.
std::vector<std::uint32_t> checksums(const std::filesystem::path& path, std::int64_t block) {
  const MappedFile file = MappedFile::open(path);
  const std::span<const std::byte> bytes(file.data(), file.size());
  std::vector<std::uint32_t> sums((file.size() + static_cast<std::size_t>(block) - 1) /
                                  static_cast<std::size_t>(block));
  Workers workers;
  workers.for_each(std::ssize(sums), [&](std::int64_t i) {
    const auto first = static_cast<std::size_t>(i * block);
    const auto part = bytes.subspan(first, std::min(static_cast<std::size_t>(block), bytes.size() - first));
    sums[static_cast<std::size_t>(i)] = base::crc32(part);
    base::release_file_pages(part);
  });
  return sums;
}

void add_checksums(const std::filesystem::path& directory, Mark& mark) {
  for (FileMark& file : mark.files) {
    file.crc32 = checksums(directory / file.name, mark.block_bytes);
  }
}

/// Whether the contents match the mark, regardless of the times; if so, fills in the checksums of `now`.
bool has_same_content(const std::filesystem::path& directory, const Mark& mark, Mark& now) {
  if (!all_files(mark, now, is_same_file)) {
    return false;
  }
  Mark read = now;
  read.block_bytes = mark.block_bytes;
  add_checksums(directory, read);
  if (!all_files(mark, read, [](const FileMark& a, const FileMark& b) { return a.crc32 == b.crc32; })) {
    return false;
  }
  now = std::move(read);
  return true;
}

/// Marks the files as they were before they were read. Precondition: is_settled(before).
void write_mark(const std::filesystem::path& directory, const Mark& before) {
  try {
    base::write_document(directory / mark_name, before);
  } catch (const base::Failure&) {
    // A store that cannot be written is read again next time.
  }
}

void validate_and_mark(const Graph& graph, Mark before) {
  validate(graph, false);
  if (is_settled(before)) {
    add_checksums(graph.directory, before);
    write_mark(graph.directory, before);
  }
}

/// Throws InputError if the content of an unchanged file is not that of its mark.
void compare(const std::filesystem::path& directory, const FileMark& file, std::int64_t block) {
  const auto now = checksums(directory / file.name, block);
  const auto [found, expected] = std::mismatch(now.begin(), now.end(), file.crc32.begin(), file.crc32.end());
  if (found != now.end()) {
    const std::int64_t first = (found - now.begin()) * block;
    throw base::InputError((directory / file.name).string(),
                           "bytes " + std::to_string(first) + " to " +
                               std::to_string(std::min(first + block, file.bytes) - 1) +
                               " changed since the store was checked, though the file's time did not; "
                               "restore the file, or remove " +
                               mark_name + " if that was meant");
  }
}

}  // namespace

void validate_once(const Graph& graph, bool for_training) {
  if (graph.directory.empty()) {
    validate(graph, for_training);
    return;
  }
  Mark now = current(graph.directory);
  const auto mark = read_mark(graph.directory);
  if (!mark || !all_files(*mark, now, is_unchanged)) {
    if (mark && has_same_content(graph.directory, *mark, now)) {
      if (is_settled(now)) {
        write_mark(graph.directory, now);
      }
    } else {
      validate_and_mark(graph, now);
    }
  }
  if (for_training) {
    check_trainable(graph);
  }
}

void verify(const Graph& graph, bool for_training) {
  if (graph.directory.empty()) {
    validate(graph, for_training);
    return;
  }
  const Mark now = current(graph.directory);
  if (const auto mark = read_mark(graph.directory); mark && all_files(*mark, now, is_unchanged)) {
    for (const FileMark& file : mark->files) {
      compare(graph.directory, file, mark->block_bytes);
    }
    validate(graph, false);
  } else {
    validate_and_mark(graph, now);
  }
  if (for_training) {
    check_trainable(graph);
  }
}

}  // namespace gnomon::graph
