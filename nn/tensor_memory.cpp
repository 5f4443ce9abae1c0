#include "nn/tensor_memory.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <unordered_map>

namespace gnomon::nn {
namespace {

constexpr std::size_t page_bytes = std::size_t{1} << 21;

/// The least number of whole pages that holds so many bytes.
std::size_t whole_pages(std::size_t wanted) { return (wanted + page_bytes - 1) / page_bytes * page_bytes; }

/// Pages from the system, huge ones if it can.
char* map_pages(std::size_t bytes) {
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

/// Blocks of whole huge pages, kept when they are given back. Free ones that lie side by side become one, and
/// of a larger one the rest stays: batches differ in size, and what one took is to serve the next.
class BlockCache {
 public:
  void* take(std::size_t wanted) {
    const std::size_t bytes = whole_pages(wanted);
    const std::lock_guard lock(mutex_);
    char* memory = take_free(bytes);
    if (memory == nullptr) {
      memory = map_pages(bytes);
    }
    used_.emplace(memory, bytes);
    used_bytes_ += bytes;
    most_used_bytes_ = std::max(most_used_bytes_, used_bytes_);
    return memory;
  }

  /// Whether `memory` was taken here; it is free then.
  bool give(void* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = used_.find(static_cast<char*>(memory));
    if (found == used_.end()) {
      return false;
    }
    add_free(found->first, found->second);
    used_bytes_ -= found->second;
    used_.erase(found);
    // The slack is for sizes that come again in another order.
    const std::size_t most = most_used_bytes_ + most_used_bytes_ / 4;
    while (free_bytes_ + used_bytes_ > most && !free_.empty()) {
      unmap_last(free_bytes_ + used_bytes_ - most);
    }
    return true;
  }

 private:
  /// From the smallest free block that is large enough; null when none is.
  char* take_free(std::size_t bytes) {
    auto best = free_.end();
    for (auto block = free_.begin(); block != free_.end(); ++block) {
      if (block->second >= bytes && (best == free_.end() || block->second < best->second)) {
        best = block;
      }
    }
    if (best == free_.end()) {
      return nullptr;
    }
    const auto [memory, size] = *best;
    free_.erase(best);
    if (size > bytes) {
      free_.emplace(memory + bytes, size - bytes);
    }
    free_bytes_ -= bytes;
    return memory;
  }

  void add_free(char* memory, std::size_t bytes) {
    free_bytes_ += bytes;
    auto next = free_.lower_bound(memory);
    if (next != free_.end() && memory + bytes == next->first) {
      bytes += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == memory) {
        before->second += bytes;
        return;
      }
    }
    free_.emplace(memory, bytes);
  }

  /// Gives the system about so many bytes of one free block, whole pages, or all that it has.
  void unmap_last(std::size_t excess) {
    const auto last = std::prev(free_.end());
    const std::size_t bytes = std::min(last->second, whole_pages(excess));
    last->second -= bytes;
    munmap(last->first + last->second, bytes);
    free_bytes_ -= bytes;
    if (last->second == 0) {
      free_.erase(last);
    }
  }

  std::mutex mutex_;
  std::map<char*, std::size_t> free_;  ///< by address, none beside another
  std::unordered_map<char*, std::size_t> used_;
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

}  // namespace gnomon::nn
