#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>

namespace gnomon::base {

/// A file that appears whole or not at all: bytes go to a temporary neighbour, which commit() flushes (fsync)
/// and renames over `path`. Without commit() the destructor removes the temporary and `path` stays as it was.
/// Throws Failure, with path and reason, when the disk does not take the bytes.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, std::size_t count);
  /// Overwrites `count` bytes at `offset`; for headers whose numbers are known only at the end.
  void write_at(std::uint64_t offset, const void* bytes, std::size_t count);
  void commit();

 private:
  void check_open() const;
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

/// Writes `text` to `path` atomically. Throws Failure.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// The whole of a text file. Throws InputError naming the path when it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// A directory that appears whole or not at all: fill path(), then commit() renames it to its final name.
/// Without commit() the destructor removes everything. Throws InputError when `destination` already exists.
class AtomicDirectory {
 public:
  explicit AtomicDirectory(std::filesystem::path destination);
  ~AtomicDirectory();
  AtomicDirectory(const AtomicDirectory&) = delete;
  AtomicDirectory& operator=(const AtomicDirectory&) = delete;

  const std::filesystem::path& path() const { return temporary_; }
  void commit();

 private:
  std::filesystem::path destination_;
  std::filesystem::path temporary_;
  bool committed_ = false;
};

}  // namespace gnomon::base
