#include "graph/store/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"

namespace gnomon::graph {
namespace {

std::byte* map(int descriptor, std::size_t size, int protection) {
  void* memory = ::mmap(nullptr, size, protection, MAP_SHARED, descriptor, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

}  // namespace

MappedFile MappedFile::open(const std::filesystem::path& path) {
  MappedFile file;
  file.path_ = path;
  file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file.descriptor_ < 0 || ::fstat(file.descriptor_, &status) != 0) {
    throw base::InputError(path.string(), std::string("cannot be read: ") + std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    throw base::InputError(path.string(), "is not a file");
  }
  file.size_ = static_cast<std::size_t>(status.st_size);
  if (file.size_ > 0 && (file.data_ = map(file.descriptor_, file.size_, PROT_READ)) == nullptr) {
    throw base::Failure(path.string(), std::string("cannot be mapped: ") + std::strerror(errno));
  }
  ::close(std::exchange(file.descriptor_, -1));
  return file;
}

MappedFile MappedFile::create(const std::filesystem::path& path, std::size_t size) {
  MappedFile file;
  file.path_ = path;
  file.descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file.descriptor_ < 0) {
    throw base::Failure(path.string(), std::string("cannot create: ") + std::strerror(errno));
  }
  // In a sparse file, a full disk would raise SIGBUS at the first write to the memory.
  if (const int error = ::posix_fallocate(file.descriptor_, 0, static_cast<off_t>(size)); error != 0) {
    throw base::Failure(path.string(),
                        "cannot reserve " + std::to_string(size) + " bytes: " + std::strerror(error));
  }
  file.data_ = map(file.descriptor_, size, PROT_READ | PROT_WRITE);
  if (file.data_ == nullptr) {
    throw base::Failure(path.string(), std::string("cannot be mapped: ") + std::strerror(errno));
  }
  file.size_ = size;
  return file;
}

void MappedFile::release() {
  if (data_ != nullptr) {
    ::munmap(data_, size_);
  }
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
  data_ = nullptr;
  size_ = 0;
  descriptor_ = -1;
}

MappedFile::~MappedFile() { release(); }

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    release();
    path_ = std::move(other.path_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

void MappedFile::finish(std::size_t size) {
  const bool flushed = ::msync(data_, size_, MS_SYNC) == 0;
  ::munmap(std::exchange(data_, nullptr), std::exchange(size_, 0));
  if (!flushed || ::ftruncate(descriptor_, static_cast<off_t>(size)) != 0 || ::fsync(descriptor_) != 0) {
    throw base::Failure(path_.string(), std::string("cannot flush: ") + std::strerror(errno));
  }
  release();
}

}  // namespace gnomon::graph
