#pragma once

#include <cstddef>
#include <filesystem>

namespace gnomon::graph {

/// Owns a memory-mapped file; movable. The destructor unmaps it.
class MappedFile {
 public:
  /// Maps an existing file for reading. Throws InputError if it cannot be opened.
  static MappedFile open(const std::filesystem::path& path);
  /// Creates a file of `size` bytes and maps it for writing. Its blocks are allocated beforehand, so that
  /// writing to the memory cannot fail later. Throws Failure if the disk is full.
  static MappedFile create(const std::filesystem::path& path, std::size_t size);

  MappedFile() = default;
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  const std::byte* data() const { return data_; }
  std::byte* writable() { return data_; }
  std::size_t size() const { return size_; }

  /// Truncates a created file to `size` bytes, flushes it to disk and unmaps it. Throws Failure.
  void finish(std::size_t size);

 private:
  void release();
  std::filesystem::path path_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  int descriptor_ = -1;
};

}  // namespace gnomon::graph
