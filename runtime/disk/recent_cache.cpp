#include "runtime/disk/recent_cache.h"

#include <algorithm>
#include <cstring>

namespace gnomon::runtime {
namespace {

/// The finaliser of SplitMix64 (Steele et al., OOPSLA 2014).
std::uint64_t mixed(std::uint64_t key) {
  key += 0x9E3779B97F4A7C15U;
  key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9U;
  key = (key ^ (key >> 27)) * 0x94D049BB133111EBU;
  return key ^ (key >> 31);
}

}  // namespace

RecentCache::RecentCache(std::int64_t max_entries, std::size_t entry_bytes) : entry_bytes_(entry_bytes) {
  constexpr std::size_t max_parts = 64;
  constexpr std::size_t min_entries = 64;
  const auto all = static_cast<std::size_t>(max_entries);
  const std::size_t count = all == 0 ? 0 : std::clamp<std::size_t>(all / min_entries, 1, max_parts);
  entries_.reserve(all * entry_bytes, 0);
  std::size_t first = 0;
  for (std::size_t i = 0; i < count; ++i) {
    auto part = std::make_unique<Part>();
    part->first = first;
    part->capacity = all / count + (i < all % count ? 1 : 0);
    first += part->capacity;
    part->keys.reserve(part->capacity);
    part->is_used.resize(part->capacity);
    part->table.resize(2 * part->capacity);
    parts_.push_back(std::move(part));
  }
}

/// Consecutive keys are spread evenly: a cache with as many entries as keys holds all of them.
RecentCache::Part& RecentCache::part_of(std::uint64_t key) { return *parts_[key % parts_.size()]; }

std::size_t RecentCache::Part::home_of(std::uint64_t key) const {
  return ((mixed(key) >> 32) * table.size()) >> 32;
}

std::size_t RecentCache::Part::slot_of(std::uint64_t key) const {
  for (std::size_t at = home_of(key); table[at] != 0; at = (at + 1) % table.size()) {
    if (keys[table[at] - 1] == key) {
      return table[at] - 1;
    }
  }
  return none;
}

void RecentCache::Part::insert(std::uint64_t key, std::size_t slot) {
  std::size_t at = home_of(key);
  while (table[at] != 0) {
    at = (at + 1) % table.size();
  }
  table[at] = static_cast<std::uint32_t>(slot + 1);
}

/// Closes the gap by moving up later entries (Knuth, The Art of Computer Programming, volume 3, section 6.4,
/// algorithm R).
void RecentCache::Part::erase(std::uint64_t key) {
  const std::size_t size = table.size();
  std::size_t gap = home_of(key);
  while (keys[table[gap] - 1] != key) {
    gap = (gap + 1) % size;
  }
  for (std::size_t at = (gap + 1) % size; table[at] != 0; at = (at + 1) % size) {
    const std::size_t home = home_of(keys[table[at] - 1]);
    const std::size_t from_home = (at + size - home) % size;
    if (from_home >= (at + size - gap) % size) {
      table[gap] = table[at];
      gap = at;
    }
  }
  table[gap] = 0;
}

std::size_t RecentCache::Part::free_slot() {
  if (keys.size() < capacity) {
    keys.push_back(0);
    return keys.size() - 1;
  }
  while (is_used[hand] != 0) {
    is_used[hand] = 0;
    hand = (hand + 1) % capacity;
  }
  const std::size_t slot = hand;
  hand = (hand + 1) % capacity;
  erase(keys[slot]);
  return slot;
}

void RecentCache::keep(std::uint64_t key, const std::byte* bytes) {
  if (parts_.empty()) {
    return;
  }
  Part& part = part_of(key);
  const std::lock_guard lock(part.mutex);
  if (part.slot_of(key) != none) {
    return;
  }
  const std::size_t slot = part.free_slot();
  part.keys[slot] = key;
  part.is_used[slot] = 1;
  part.insert(key, slot);
  std::memcpy(entry(part, slot), bytes, entry_bytes_);
}

}  // namespace gnomon::runtime
