#include "runtime/disk/direct_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"
#include "runtime/disk/read_buffers.h"

namespace gnomon::runtime {

DirectFile::DirectFile(std::filesystem::path path) : path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
  if (descriptor_ < 0 && errno == EINVAL) {
    is_direct_ = false;
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  }
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
    const int error = errno;
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
    throw base::InputError(path_.string(), std::string("cannot be read: ") + std::strerror(error));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  constexpr std::size_t small_block = 512;
  block_bytes_ = reads_blocks_of(small_block) ? small_block : memory_alignment;
}

DirectFile::~DirectFile() { ::close(descriptor_); }

std::uint64_t DirectFile::size_now() const {
  struct stat status {};
  return ::fstat(descriptor_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

bool DirectFile::reads_blocks_of(std::size_t bytes) const {
  const ReadBuffers buffer(1, bytes);
  return ::pread(descriptor_, buffer[0], bytes, 0) >= 0;
}

}  // namespace gnomon::runtime
