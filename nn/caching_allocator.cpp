#include "nn/caching_allocator.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <malloc.h>
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

/// Rounds up to a multiple of the page size.
std::size_t whole_pages(std::size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

/// Maps pages, huge ones if the system grants them.
char* map_pages(std::size_t bytes) {
  // mmap aligns to small pages only: map one huge page more and unmap the two ends.
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

/// A best-fit free list of blocks of whole huge pages. Adjacent free blocks are merged, and larger ones are
/// split, because the sizes of batches vary. Thread-safe.
class BlockCache {
 public:
  void* allocate(std::size_t size) {
    const std::size_t bytes = whole_pages(size);
    const std::lock_guard lock(mutex_);
    char* memory = take_free(bytes);
    if (memory == nullptr) {
      // The sizes of mini-batches' tensors vary by a few percent: with room to spare, they fit into each
      // other's memory. Pages that no tensor touches take no memory.
      const std::size_t spare = bytes / 16 / page_bytes * page_bytes;
      memory = map_pages(bytes + spare);
      if (spare > 0) {
        add_free(memory + bytes, spare);
      }
    }
    used_.emplace(memory, bytes);
    used_bytes_ += bytes;
    peak_bytes_ = std::max(peak_bytes_, used_bytes_);
    peak_held_bytes_ = std::max(peak_held_bytes_, used_bytes_ + free_bytes_);
    return memory;
  }

  /// Frees `memory` if it was allocated here, and returns whether it was.
  bool free(void* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = used_.find(static_cast<char*>(memory));
    if (found == used_.end()) {
      return false;
    }
    add_free(found->first, found->second);
    used_bytes_ -= found->second;
    used_.erase(found);
    trim();
    return true;
  }

  std::size_t peak_bytes() {
    const std::lock_guard lock(mutex_);
    return peak_bytes_;
  }

  /// Lowers the recorded peak to `peak` bytes, or to the present use if that is larger.
  void forget_peak(std::size_t peak) {
    const std::lock_guard lock(mutex_);
    peak_bytes_ = std::max(peak, used_bytes_);
    trim();
  }

  TensorBytes memory() {
    const std::lock_guard lock(mutex_);
    return {static_cast<std::int64_t>(used_bytes_), static_cast<std::int64_t>(used_bytes_ + free_bytes_),
            static_cast<std::int64_t>(peak_held_bytes_)};
  }

 private:
  /// Takes memory from the smallest free block that is large enough; returns null if there is none.
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

  /// Unmaps free memory beyond what recurring sizes need. The extra quarter allows for fragmentation, as they
  /// recur in another order.
  void trim() {
    const std::size_t limit = peak_bytes_ + peak_bytes_ / 4;
    while (free_bytes_ + used_bytes_ > limit && !free_.empty()) {
      unmap_last(free_bytes_ + used_bytes_ - limit);
    }
  }

  /// Unmaps `excess` bytes, in whole pages, from the end of the last free block, or all of that block if it
  /// is smaller.
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
  std::map<char*, std::size_t> free_;  ///< by address; no two blocks are adjacent
  std::unordered_map<char*, std::size_t> used_;
  std::size_t free_bytes_ = 0, used_bytes_ = 0, peak_bytes_ = 0, peak_held_bytes_ = 0;
};

BlockCache& block_cache() {
  static auto* cache = new BlockCache;  // never destroyed: tensors may be freed after static destruction
  return *cache;
}

/// Frees memory of either allocator: raw_deallocate also passes memory of the default one.
void release(void* memory) {
  if (!block_cache().free(memory)) {
    c10::GetDefaultCPUAllocator()->raw_deallocate(memory);
  }
}

class CachingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    constexpr std::size_t min_cached_bytes = std::size_t{1} << 20;
    if (bytes < min_cached_bytes) {
      return c10::GetDefaultCPUAllocator()->allocate(bytes);
    }
    void* memory = block_cache().allocate(bytes);
    return {memory, memory, &release, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

/// Smaller tensors come from malloc. By default it returns the memory that they free at the end of each step
/// to the system, and the next step takes a page fault for every page. As malloc adapts its thresholds to the
/// freed sizes, this could affect the smaller last mini-batch of an epoch only.
void keep_freed_memory() {
  constexpr int kept_bytes = 64 << 20;   // of each thread
  constexpr int mapped_bytes = 2 << 20;  // larger than any tensor served by malloc
  mallopt(M_TRIM_THRESHOLD, kept_bytes);
  mallopt(M_MMAP_THRESHOLD, mapped_bytes);
}

}  // namespace

void install_caching_allocator() {
  static CachingAllocator allocator;
  keep_freed_memory();
  c10::SetCPUAllocator(&allocator, 1);
}

TensorBytes tensor_bytes() { return block_cache().memory(); }

TransientTensors::TransientTensors() : peak_before_(block_cache().peak_bytes()) {}
TransientTensors::~TransientTensors() { block_cache().forget_peak(peak_before_); }

}  // namespace gnomon::nn
