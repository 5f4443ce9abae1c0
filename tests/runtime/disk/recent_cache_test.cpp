#include "runtime/disk/recent_cache.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <thread>

#include "tests/random_seed.h"

namespace gnomon::runtime {
namespace {

using Entry = std::array<std::byte, 24>;

Entry entry_of(std::uint64_t key) {
  Entry entry{};
  std::memcpy(entry.data(), &key, sizeof key);
  std::memcpy(entry.data() + 16, &key, sizeof key);
  return entry;
}

/// Whether it holds the key, and then the right entry.
bool holds(RecentCache& cache, std::uint64_t key) {
  Entry found{};
  const bool is_there =
      cache.find(key, [&](const std::byte* entry) { std::memcpy(found.data(), entry, found.size()); });
  EXPECT_TRUE(!is_there || found == entry_of(key)) << key;
  return is_there;
}

TEST(RecentCache, HoldsWhatWasUsedSinceTheHandPassed) {
  RecentCache cache(3, sizeof(Entry));  // one part
  for (const std::uint64_t key : {10, 20, 30}) {
    EXPECT_FALSE(holds(cache, key));
    cache.keep(key, entry_of(key).data());
  }
  // All are marked: the hand clears the marks and takes the first. Then 20 is marked again, and 30 goes.
  cache.keep(40, entry_of(40).data());
  EXPECT_FALSE(holds(cache, 10));
  EXPECT_TRUE(holds(cache, 20));
  cache.keep(50, entry_of(50).data());
  EXPECT_FALSE(holds(cache, 30));
  EXPECT_TRUE(holds(cache, 20));
  EXPECT_TRUE(holds(cache, 40));
  EXPECT_TRUE(holds(cache, 50));
}

/// CLOCK by a list and a map, as it is described.
class PlainClock {
 public:
  explicit PlainClock(std::size_t capacity) : capacity_(capacity) {}
  bool use(std::uint64_t key) {
    for (auto& [held, is_used] : entries_) {
      if (held == key) {
        is_used = true;
        return true;
      }
    }
    if (entries_.size() < capacity_) {
      entries_.emplace_back(key, true);
      return false;
    }
    while (entries_[hand_].second) {
      entries_[hand_].second = false;
      hand_ = (hand_ + 1) % capacity_;
    }
    entries_[hand_] = {key, true};
    hand_ = (hand_ + 1) % capacity_;
    return false;
  }

 private:
  std::size_t capacity_;
  std::size_t hand_ = 0;
  std::vector<std::pair<std::uint64_t, bool>> entries_;
};

TEST(RecentCache, IsTheClockOfTheBook) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (const std::size_t capacity : {1UL, 2UL, 7UL, 60UL, 127UL}) {  // below 128 there is one part
    RecentCache cache(static_cast<std::int64_t>(capacity), sizeof(Entry));
    PlainClock plain(capacity);
    for (int i = 0; i < 4000; ++i) {
      const std::uint64_t key = random() % (2 * capacity + 3) * 1'000'003;
      const bool is_hit = holds(cache, key);
      ASSERT_EQ(is_hit, plain.use(key)) << capacity << ", access " << i;
      if (!is_hit) {
        cache.keep(key, entry_of(key).data());
      }
    }
  }
}

TEST(RecentCache, OfNothingHoldsNothing) {
  RecentCache cache(0, sizeof(Entry));
  cache.keep(1, entry_of(1).data());
  EXPECT_FALSE(holds(cache, 1));
}

TEST(RecentCache, ServesSeveralThreads) {
  RecentCache cache(1000, sizeof(Entry));
  const test::RandomSeed seed;
  std::vector<std::jthread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&cache, from = seed + thread] {
      std::mt19937_64 random(from);
      for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t key = random() % 3000;
        if (!holds(cache, key)) {
          cache.keep(key, entry_of(key).data());
        }
      }
    });
  }
}

}  // namespace
}  // namespace gnomon::runtime
