#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace gnomon::graph {

/// A file for intermediate data. It is unlinked once it is open, so it disappears with the process, however
/// that ends. Movable.
class ScratchFile {
 public:
  /// Creates the file in `directory`. Throws Failure.
  explicit ScratchFile(const std::filesystem::path& directory);
  ~ScratchFile();
  ScratchFile(ScratchFile&& other) noexcept;
  ScratchFile& operator=(ScratchFile&& other) noexcept;

  /// Writes bytes at the end and returns their offset. Throws Failure, for instance if the disk is full.
  std::int64_t append(std::span<const std::byte> bytes);
  /// Reads bytes that were appended. Several threads may read at the same time. Throws Failure.
  void read(std::int64_t offset, std::span<std::byte> bytes) const;
  std::int64_t size() const { return size_; }

 private:
  std::filesystem::path directory_;  ///< that errors name
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

}  // namespace gnomon::graph
