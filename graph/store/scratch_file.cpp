#include "graph/store/scratch_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"

namespace gnomon::graph {
namespace {

[[noreturn]] void fail(const std::filesystem::path& directory, const char* what) {
  throw base::Failure(directory.string(),
                      std::string("intermediate data cannot be ") + what + ": " + std::strerror(errno));
}

}  // namespace

ScratchFile::ScratchFile(const std::filesystem::path& directory) : directory_(directory) {
  std::string path = (directory / "scratch.XXXXXX").string();
  descriptor_ = ::mkostemp(path.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    fail(directory_, "written");
  }
  ::unlink(path.c_str());
}

ScratchFile::~ScratchFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

ScratchFile::ScratchFile(ScratchFile&& other) noexcept
    : directory_(std::move(other.directory_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

ScratchFile& ScratchFile::operator=(ScratchFile&& other) noexcept {
  std::swap(directory_, other.directory_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

std::int64_t ScratchFile::append(std::span<const std::byte> bytes) {
  const std::int64_t offset = size_;
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), size_);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      fail(directory_, "written");
    }
    size_ += written;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return offset;
}

void ScratchFile::read(std::int64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(descriptor_, bytes.data(), bytes.size(), offset);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      errno = got == 0 ? EIO : errno;
      fail(directory_, "read");
    }
    offset += got;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace gnomon::graph
