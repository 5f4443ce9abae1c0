#pragma once

#include <cstddef>
#include <filesystem>

namespace gnomon::graph {

/// A file in memory by mmap. Movable owner; the memory goes with it.
class MappedFile {
 public:
  /// Maps an existing file for reading. Throws InputError when it cannot be opened.
  static MappedFile open(const std::filesystem::path& path);
  /// Makes a file of `size` bytes, reserved on disk beforehand, so that writing into the memory cannot fail
  /// later. Throws Failure when the disk has no room.
  static MappedFile create(const std::filesystem::path& path, std::size_t size);

  MappedFile() = default;
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  const std::byte* data() const { return data_; }
  std::byte* writable() { return data_; }
  std::size_t size() const { return size_; }

  /// Of a created file: keeps the first `size` bytes and flushes them to disk; the memory is gone then.
  /// Throws Failure.
  void finish(std::size_t size);

 private:
  void release();
  std::filesystem::path path_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  int descriptor_ = -1;
};

}  // namespace gnomon::graph
