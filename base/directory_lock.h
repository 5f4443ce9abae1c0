#pragma once

#include <filesystem>

namespace gnomon::base {

/// Exclusive use of a directory among processes, from construction to destruction. It ends with the process,
/// however that ends, and leaves no file.
class DirectoryLock {
 public:
  /// Waits for at most two seconds, as children of a killed process may hold its lock until they notice.
  /// Throws InputError if another process uses the directory. On a file system without such locks it holds
  /// none.
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int descriptor_ = -1;
};

/// Whether a process, this one included, has the directory's lock.
bool is_locked(const std::filesystem::path& directory);

}  // namespace gnomon::base
