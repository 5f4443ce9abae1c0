#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "kernels/cpu/huge_array.h"

namespace gnomon::runtime {

/// A cache of equal-sized entries by 64-bit keys with approximate LRU replacement (CLOCK; Corbató, 1968): a
/// new entry replaces the next one that was not used since the clock hand passed it. Sharded, with a lock per
/// shard; thread-safe.
class RecentCache {
 public:
  RecentCache(std::int64_t max_entries, std::size_t entry_bytes);

  /// Calls use(const std::byte* entry) under a lock and returns true if it holds the entry.
  template <class Use>
  bool find(std::uint64_t key, const Use& use) {
    if (parts_.empty()) {
      return false;
    }
    Part& part = part_of(key);
    const std::lock_guard lock(part.mutex);
    const std::size_t slot = part.slot_of(key);
    if (slot == none) {
      return false;
    }
    part.is_used[slot] = 1;
    use(static_cast<const std::byte*>(entry(part, slot)));
    return true;
  }

  /// Stores a copy of the entry, unless it is already cached.
  void keep(std::uint64_t key, const std::byte* bytes);

  std::size_t entry_bytes() const { return entry_bytes_; }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  struct Part {
    std::mutex mutex;
    std::size_t first = 0;              ///< of its entries among all
    std::vector<std::uint64_t> keys;    ///< of each slot in use
    std::vector<std::uint8_t> is_used;  ///< since the hand passed
    std::vector<std::uint32_t> table;   ///< open addressing: slot + 1, or 0
    std::size_t capacity = 0;
    std::size_t hand = 0;

    std::size_t home_of(std::uint64_t key) const;
    std::size_t slot_of(std::uint64_t key) const;
    void insert(std::uint64_t key, std::size_t slot);
    void erase(std::uint64_t key);
    std::size_t free_slot();
  };

  Part& part_of(std::uint64_t key);
  std::byte* entry(const Part& part, std::size_t slot) {
    return entries_.data() + (part.first + slot) * entry_bytes_;
  }

  std::size_t entry_bytes_;
  kernels::cpu::HugeArray<std::byte> entries_;
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace gnomon::runtime
