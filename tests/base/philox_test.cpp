#include "base/philox.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/random_seed.h"

namespace gnomon::base {
namespace {

__extension__ using Wide = unsigned __int128;

std::vector<std::uint32_t> to_vector(Words4 words) { return {words.word, words.word + 4}; }

// Known answers of Random123 (kat_vectors, philox4x32 with 7 and 10 rounds).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(to_vector(philox4x32<7>({{0, 0, 0, 0}}, 0, 0)),
            (std::vector<std::uint32_t>{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}));
  EXPECT_EQ(to_vector(philox4x32<10>({{0, 0, 0, 0}}, 0, 0)),
            (std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(
      to_vector(philox4x32<10>({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0)),
      (std::vector<std::uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, Below64IsTheHighHalfOfTheProduct) {
  const test::RandomSeed seed(7);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 10000; ++i) {
    const std::uint64_t word = random();
    const std::uint64_t bound = random() >> (24 + random() % 30);
    const auto expected = static_cast<std::uint64_t>((Wide{word} * bound) >> 64);
    EXPECT_EQ(below64(static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word), bound),
              expected);
  }
}

TEST(Philox, StreamsOfDifferentKeysDiffer) {
  const StreamKey key{1, Purpose::neighbours, 2, 3, 4, 5};
  const auto words = to_vector(random_words(key, 0));
  const StreamKey others[] = {{2, Purpose::neighbours, 2, 3, 4, 5},
                              {1, Purpose::shuffle, 2, 3, 4, 5},
                              {1, Purpose::neighbours, 3, 3, 4, 5},
                              {1, Purpose::neighbours, 2, 4, 4, 5},
                              {1, Purpose::neighbours, 2, 3, 5, 5},
                              {1, Purpose::neighbours, 2, 3, 4, 6},
                              {1, Purpose::neighbours, 2, 3, 4, 5 + (std::uint64_t{1} << 32)}};
  for (const auto& other : others) {
    EXPECT_NE(to_vector(random_words(other, 0)), words);
  }
  EXPECT_NE(to_vector(random_words(key, 1)), words);
}

}  // namespace
}  // namespace gnomon::base
