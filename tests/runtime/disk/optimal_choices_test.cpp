#include "runtime/disk/optimal_choices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "tests/random_seed.h"

namespace gnomon::runtime {
namespace {

using Batches = std::vector<std::vector<std::uint32_t>>;

/// The minimum number of reads of any choice, by trying all contents of the cache: bit v of a content is
/// vertex v.
std::int64_t fewest_reads(const Batches& batches, std::uint32_t vertices, int capacity) {
  std::map<std::uint32_t, std::int64_t> reads{{0, 0}};  // by content
  for (const auto& batch : batches) {
    std::map<std::uint32_t, std::int64_t> next;
    std::uint32_t used = 0;
    for (const auto vertex : batch) {
      used |= 1U << vertex;
    }
    for (const auto& [content, so_far] : reads) {
      const std::int64_t now = so_far + std::popcount(used & ~content);
      const std::uint32_t there = content | used;
      for (std::uint32_t kept = 0; kept < 1U << vertices; ++kept) {
        if ((kept & ~there) == 0 && std::popcount(kept) <= capacity) {
          const auto known = next.find(kept);
          next[kept] = known == next.end() ? now : std::min(known->second, now);
        }
      }
    }
    reads = std::move(next);
  }
  const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
  return std::min_element(reads.begin(), reads.end(), fewer)->second;
}

Batches random_batches(std::mt19937_64& random, std::uint32_t vertices, int count) {
  Batches batches(static_cast<std::size_t>(count));
  for (auto& batch : batches) {
    std::vector<std::uint32_t> all(vertices);
    std::iota(all.begin(), all.end(), 0U);
    std::shuffle(all.begin(), all.end(), random);
    batch.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(1 + random() % (vertices / 2)));
  }
  return batches;
}

/// Carries choices out: what lies in each slot. Returns the number of reads, and checks that hits hit.
std::int64_t carry_out(const Batches& batches, const std::vector<std::vector<RowChoice>>& choices,
                       std::map<std::int32_t, std::uint32_t>& slots, std::int64_t capacity) {
  std::int64_t reads = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    for (std::size_t j = 0; j < batches[i].size(); ++j) {
      if (choices[i][j].is_hit()) {
        EXPECT_EQ(slots.at(choices[i][j].slot()), batches[i][j]);
      }
    }
    for (std::size_t j = 0; j < batches[i].size(); ++j) {
      reads += choices[i][j].is_hit() ? 0 : 1;
      if (!choices[i][j].is_hit() && choices[i][j].has_slot()) {
        EXPECT_LT(choices[i][j].slot(), capacity);
        slots[choices[i][j].slot()] = batches[i][j];
      }
    }
  }
  return reads;
}

TEST(OptimalChoices, NoOthersHaveFewerReads) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 60; ++round) {
    const std::uint32_t vertices = 4 + random() % 4;
    const int capacity = static_cast<int>(random() % vertices);
    const auto batches = random_batches(random, vertices, 6);
    OptimalChoices chooser(vertices, capacity);
    std::map<std::int32_t, std::uint32_t> slots;
    EXPECT_EQ(carry_out(batches, chooser.decide(batches), slots, capacity),
              fewest_reads(batches, vertices, capacity))
        << vertices << " vertices, " << capacity << " slots, round " << round;
  }
}

TEST(OptimalChoices, GoOnWithWhatTheSuperBatchBeforeLeft) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  constexpr std::int64_t capacity = 40;
  OptimalChoices chooser(100, capacity);
  std::map<std::int32_t, std::uint32_t> slots;
  std::int64_t accesses = 0;
  std::int64_t reads = 0;
  for (int super_batch = 0; super_batch < 20; ++super_batch) {
    const auto batches = random_batches(random, 100, 1 + super_batch);
    reads += carry_out(batches, chooser.decide(batches), slots, capacity);
    for (const auto& batch : batches) {
      accesses += std::ssize(batch);
    }
  }
  EXPECT_LT(reads, accesses * 7 / 10) << "a random choice would hit 40 %, and the best one more";
}

}  // namespace
}  // namespace gnomon::runtime
