#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

#include "runtime/disk/direct_file.h"

namespace gnomon::runtime {

/// Buffers of equal size for direct I/O, contiguous in memory.
class ReadBuffers {
 public:
  /// Throws std::bad_alloc.
  ReadBuffers(int count, std::size_t bytes_each)
      : bytes_each_(bytes_each), all_bytes_(static_cast<std::size_t>(count) * bytes_each) {
    const std::size_t whole = (all_bytes_ + alignment - 1) / alignment * alignment;
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, whole)));
    if (memory_ == nullptr) {
      throw std::bad_alloc();
    }
  }

  std::byte* operator[](int buffer) const {
    return memory_.get() + static_cast<std::size_t>(buffer) * bytes_each_;
  }
  std::size_t bytes_each() const { return bytes_each_; }
  std::span<std::byte> all() const { return {memory_.get(), all_bytes_}; }

 private:
  static constexpr std::size_t alignment = DirectFile::memory_alignment;
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::size_t bytes_each_;
  std::size_t all_bytes_;
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace gnomon::runtime
