#include "base/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/error.h"

namespace gnomon::base {

namespace {

int open_directory(const std::filesystem::path& directory) {
  return open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/// Tries to lock an open directory; whether another has locked it. Descriptors below 0 are not locked.
bool is_taken(int descriptor) {
  return descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

DirectoryLock::DirectoryLock(const std::filesystem::path& directory)
    : descriptor_(open_directory(directory)) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(2);
  while (is_taken(descriptor_)) {
    if (Clock::now() >= end) {
      close(descriptor_);
      throw InputError(directory.string(),
                       "is in use by another process of gnomon; wait for it, or name another directory");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

DirectoryLock::~DirectoryLock() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

bool is_locked(const std::filesystem::path& directory) {
  const int descriptor = open_directory(directory);
  const bool is_refused = is_taken(descriptor);
  if (descriptor >= 0) {
    close(descriptor);
  }
  return is_refused;
}

}  // namespace gnomon::base
