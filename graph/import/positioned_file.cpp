#include "graph/import/positioned_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/error.h"

namespace gnomon::graph {

PositionedFile::PositionedFile(const std::filesystem::path& path)
    : path_(path.string()), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
    const int reason = errno;
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
    throw base::InputError(reason == ENOENT ? "No such file" : std::generic_category().message(reason));
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    throw base::InputError("is not a file");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

PositionedFile::~PositionedFile() { ::close(descriptor_); }

std::string PositionedFile::read(std::uint64_t offset, std::size_t bytes) const {
  if (offset > size_ || bytes > size_ - offset) {
    throw base::InputError("is truncated");
  }
  std::string result(bytes, '\0');
  read(offset, bytes, result.data());
  return result;
}

void PositionedFile::read(std::uint64_t offset, std::size_t bytes, void* buffer) const {
  if (offset > size_ || bytes > size_ - offset) {
    throw base::InputError("is truncated");
  }
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t got = ::pread(descriptor_, static_cast<char*>(buffer) + done, bytes - done,
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      throw base::Failure(path_, got == 0 ? "became shorter while it was read"
                                          : "cannot be read: " + std::generic_category().message(errno));
    }
    done += static_cast<std::size_t>(got);
  }
}

}  // namespace gnomon::graph
