#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "base/directory_lock.h"

namespace gnomon::base {

/// Writes a file atomically: bytes go to a temporary file in the same directory, which commit() flushes
/// (fsync) and renames to `path`. Without commit(), the destructor removes the temporary file and `path`
/// stays unchanged. Throws Failure, which names the path and the reason, on I/O errors.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, std::size_t count);
  /// Overwrites `count` bytes at `offset`, for headers whose content is known only at the end.
  void write_at(std::uint64_t offset, const void* bytes, std::size_t count);
  void commit();

 private:
  void check_open() const;
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

/// Writes `text` to `path` atomically. Throws Failure on I/O errors.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// Returns the content of a text file. Throws InputError, which names the path, if it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// Creates a directory atomically: the caller fills path(), then commit() renames it to `destination`.
/// Without commit(), the destructor removes it; what a killed process leaves is removed by the next one with
/// that destination. Throws InputError if `destination` already exists, Failure if it cannot be created.
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
  std::optional<DirectoryLock> lock_;  ///< tells other processes that it is in use
  bool committed_ = false;
};

}  // namespace gnomon::base
