#include "kernels/autograd/tensor_memory.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

namespace gnomon::kernels::autograd {
namespace {

constexpr std::size_t page_bytes = std::size_t{1} << 21;

/// The least number of whole pages, of few different numbers, that holds so many bytes: batches differ in
/// size, and the block of one is to serve the next.
std::size_t size_class(std::size_t wanted) {
  const std::size_t step = std::max(page_bytes, std::bit_floor(wanted) / 8);
  return (wanted + step - 1) / step * step;
}

/// Pages from the system, huge ones if it can.
void* map_pages(std::size_t bytes) {
  // One huge page more, so that a part of the right size begins on the boundary of one.
  const std::size_t mapped = bytes + page_bytes;
  void* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc();
  }
  auto* begin = static_cast<char*>(memory);
  auto* aligned = begin + (page_bytes - reinterpret_cast<std::size_t>(begin) % page_bytes) % page_bytes;
  if (aligned != begin) {
    munmap(begin, static_cast<std::size_t>(aligned - begin));
  }
  if (const auto rest = static_cast<std::size_t>(begin + mapped - aligned) - bytes; rest > 0) {
    munmap(aligned + bytes, rest);
  }
  madvise(aligned, bytes, MADV_HUGEPAGE);
  return aligned;
}

/// Blocks of whole huge pages, kept when they are given back.
class BlockCache {
 public:
  void* take(std::size_t wanted) {
    const std::size_t bytes = size_class(wanted);
    const std::lock_guard lock(mutex_);
    const auto found = best_fit(bytes);
    Block block{};
    if (found != free_.end()) {
      block = *found;
      free_.erase(found);
      free_bytes_ -= block.bytes;
    } else {
      block = {map_pages(bytes), bytes};
    }
    used_.emplace(block.memory, block.bytes);
    used_bytes_ += block.bytes;
    most_used_bytes_ = std::max(most_used_bytes_, used_bytes_);
    return block.memory;
  }

  /// Whether `memory` was taken here; it is free then.
  bool give(void* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = used_.find(memory);
    if (found == used_.end()) {
      return false;
    }
    free_.push_back({found->first, found->second});
    free_bytes_ += found->second;
    used_bytes_ -= found->second;
    used_.erase(found);
    // The slack is for sizes that come again in another order.
    while (free_bytes_ + used_bytes_ > most_used_bytes_ + most_used_bytes_ / 4 && !free_.empty()) {
      const Block oldest = free_.front();
      free_.erase(free_.begin());
      free_bytes_ -= oldest.bytes;
      munmap(oldest.memory, oldest.bytes);
    }
    return true;
  }

 private:
  struct Block {
    void* memory;
    std::size_t bytes;
  };

  /// The smallest free block that is large enough and not a quarter too large, of these the last one freed.
  std::vector<Block>::iterator best_fit(std::size_t bytes) {
    auto best = free_.end();
    for (auto block = free_.begin(); block != free_.end(); ++block) {
      if (block->bytes >= bytes && block->bytes <= bytes + bytes / 4 &&
          (best == free_.end() || block->bytes <= best->bytes)) {
        best = block;
      }
    }
    return best;
  }

  std::mutex mutex_;
  std::vector<Block> free_;  ///< the oldest first
  std::unordered_map<void*, std::size_t> used_;
  std::size_t free_bytes_ = 0, used_bytes_ = 0, most_used_bytes_ = 0;
};

BlockCache& block_cache() {
  static auto* cache = new BlockCache;  // tensors may be freed after all static objects are gone
  return *cache;
}

/// Also of memory that the default allocator gave, by raw_deallocate.
void release(void* memory) {
  if (!block_cache().give(memory)) {
    c10::GetDefaultCPUAllocator()->raw_deallocate(memory);
  }
}

class KeepingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    constexpr std::size_t least_kept_bytes = std::size_t{1} << 20;
    if (bytes < least_kept_bytes) {
      return c10::GetDefaultCPUAllocator()->allocate(bytes);
    }
    void* memory = block_cache().take(bytes);
    return {memory, memory, &release, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

}  // namespace

void keep_tensor_memory() {
  static KeepingAllocator allocator;
  c10::SetCPUAllocator(&allocator, 1);
}

}  // namespace gnomon::kernels::autograd
