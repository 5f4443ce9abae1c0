#include "base/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>

#include "base/error.h"

namespace gnomon::base {
namespace {

std::string reason() { return std::strerror(errno); }

std::filesystem::path temporary_name(const std::filesystem::path& path) {
  auto name = path;
  name += ".tmp-" + std::to_string(::getpid());
  return name;
}

/// A rename is durable only after its directory has been flushed, too.
void sync_directory_of(const std::filesystem::path& path) {
  const auto directory = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    ::fsync(descriptor);
    ::close(descriptor);
  }
}

constexpr std::int64_t append = -1;

/// Writes `count` bytes at `offset`, or at the file position if `offset` is `append`.
void write_all(int descriptor, const std::filesystem::path& path, const char* bytes, std::size_t count,
               std::int64_t offset) {
  while (count > 0) {
    const ssize_t done = offset < 0 ? ::write(descriptor, bytes, count)
                                    : ::pwrite(descriptor, bytes, count, static_cast<off_t>(offset));
    if (done < 0) {
      if (errno == EINTR) {
        continue;
      }
      throw Failure(path.string(), "cannot write: " + reason());
    }
    bytes += done;
    count -= static_cast<std::size_t>(done);
    offset = offset < 0 ? offset : offset + done;
  }
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path)
    : path_(std::move(path)), temporary_(temporary_name(path_)) {
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor_ < 0) {
    throw Failure(path_.string(), "cannot create: " + reason());
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    ::unlink(temporary_.c_str());
  }
}

void AtomicFile::check_open() const {
  if (descriptor_ < 0) {
    throw Failure(path_.string(), "cannot write after commit");
  }
}

void AtomicFile::write(const void* bytes, std::size_t count) {
  check_open();
  write_all(descriptor_, path_, static_cast<const char*>(bytes), count, append);
}

void AtomicFile::write_at(std::uint64_t offset, const void* bytes, std::size_t count) {
  check_open();
  write_all(descriptor_, path_, static_cast<const char*>(bytes), count, static_cast<std::int64_t>(offset));
}

void AtomicFile::commit() {
  check_open();
  if (::fsync(descriptor_) != 0) {
    throw Failure(path_.string(), "cannot flush: " + reason());
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw Failure(path_.string(), "cannot rename into place: " + reason());
  }
  ::close(descriptor_);
  descriptor_ = -1;
  sync_directory_of(path_);
}

void write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path)) {
    throw InputError(path.string(), "cannot be read: " + (errno != 0 ? reason() : "not a file"));
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

AtomicDirectory::AtomicDirectory(std::filesystem::path destination)
    : destination_(destination.has_filename() ? std::move(destination) : destination.parent_path()),
      temporary_(temporary_name(destination_)) {
  if (std::filesystem::exists(destination_)) {
    throw InputError(destination_.string(), "already exists; give a new name or remove it first");
  }
  std::error_code failed;
  std::filesystem::create_directories(temporary_, failed);
  if (failed) {
    throw Failure(destination_.string(), "cannot create: " + failed.message());
  }
}

AtomicDirectory::~AtomicDirectory() {
  if (!committed_) {
    std::error_code ignored;
    std::filesystem::remove_all(temporary_, ignored);
  }
}

void AtomicDirectory::commit() {
  std::error_code failed;
  std::filesystem::rename(temporary_, destination_, failed);
  if (failed) {
    throw Failure(destination_.string(), "cannot rename into place: " + failed.message());
  }
  committed_ = true;
  sync_directory_of(destination_);
}

}  // namespace gnomon::base
