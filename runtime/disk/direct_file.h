#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace gnomon::runtime {

/// A file opened for direct I/O (O_DIRECT), or for buffered I/O if the file system does not support it, as an
/// in-memory one.
class DirectFile {
 public:
  /// Memory for reads is aligned to this; no disk has larger blocks.
  static constexpr std::size_t memory_alignment = 4096;

  /// Throws base::InputError if the file cannot be opened.
  explicit DirectFile(std::filesystem::path path);
  ~DirectFile();
  DirectFile(const DirectFile&) = delete;
  DirectFile& operator=(const DirectFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  bool is_direct() const { return is_direct_; }
  /// The file's size when it was opened.
  std::uint64_t size() const { return size_; }
  /// The current size; 0 if unknown.
  std::uint64_t size_now() const;
  /// Offsets and sizes of reads are multiples of this: 512 or 4096.
  std::uint64_t block_bytes() const { return block_bytes_; }

 private:
  bool reads_blocks_of(std::size_t bytes) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  bool is_direct_ = true;
  std::uint64_t size_ = 0;
  std::uint64_t block_bytes_ = memory_alignment;
};

}  // namespace gnomon::runtime
