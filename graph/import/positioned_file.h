#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace gnomon::graph {

/// A file of which parts are read by their offsets.
class PositionedFile {
 public:
  /// Throws InputError, without the file's name, if it is not a file that can be opened.
  explicit PositionedFile(const std::filesystem::path& path);
  ~PositionedFile();
  PositionedFile(const PositionedFile&) = delete;
  PositionedFile& operator=(const PositionedFile&) = delete;

  std::uint64_t size() const { return size_; }
  /// Reads `bytes` bytes from `offset` on. Throws InputError, without the file's name, if the file ends
  /// before them, and Failure if the system cannot read it.
  std::string read(std::uint64_t offset, std::size_t bytes) const;
  void read(std::uint64_t offset, std::size_t bytes, void* buffer) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace gnomon::graph
