#include "base/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>

#include "base/error.h"
#include "base/write_all.h"

namespace gnomon::base {
namespace {

constexpr std::string_view temporary_mark = ".tmp-";

std::string reason() { return std::strerror(errno); }

std::filesystem::path temporary_name(const std::filesystem::path& path) {
  auto name = path;
  name += std::string(temporary_mark) + std::to_string(::getpid());
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
  write_all(descriptor_, path_, {static_cast<const char*>(bytes), count});
}

void AtomicFile::write_at(std::uint64_t offset, const void* bytes, std::size_t count) {
  check_open();
  write_all(descriptor_, path_, {static_cast<const char*>(bytes), count}, static_cast<std::int64_t>(offset));
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
  if (std::filesystem::is_directory(path)) {
    throw InputError(path.string(), "cannot be read: it is a directory");
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad()) {
    throw InputError(path.string(), "cannot be read: " + (errno != 0 ? reason() : "not a file"));
  }
  return text;
}

namespace {

/// Removes what killed processes have left of the same destination: temporary directories that none uses.
void remove_leftovers(const std::filesystem::path& destination) {
  const auto parent = destination.has_parent_path() ? destination.parent_path() : std::filesystem::path(".");
  const auto prefix = destination.filename().string() + std::string(temporary_mark);
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(parent, ignored)) {
    if (entry.path().filename().string().starts_with(prefix) && !is_locked(entry.path())) {
      std::filesystem::remove_all(entry.path(), ignored);
    }
  }
}

/// Makes a new directory beside the destination.
std::filesystem::path make_temporary(const std::filesystem::path& destination) {
  std::error_code failed;
  if (destination.has_parent_path()) {
    std::filesystem::create_directories(destination.parent_path(), failed);
  }
  // Another process may have the same number, in a container of its own.
  for (int attempt = 0; !failed; ++attempt) {
    auto name = temporary_name(destination);
    name += "-" + std::to_string(attempt);
    if (std::filesystem::create_directory(name, failed)) {
      return name;
    }
  }
  throw Failure(destination.string(), "cannot create: " + failed.message());
}

}  // namespace

AtomicDirectory::AtomicDirectory(std::filesystem::path destination)
    : destination_(destination.has_filename() ? std::move(destination) : destination.parent_path()) {
  if (std::filesystem::exists(destination_)) {
    throw InputError(destination_.string(), "already exists; give a new name or remove it first");
  }
  remove_leftovers(destination_);
  temporary_ = make_temporary(destination_);
  lock_.emplace(temporary_);
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
