#include "base/crc32.h"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

#include "tests/random_seed.h"

namespace gnomon::base {
namespace {

std::uint32_t crc32_of(std::string_view text) { return crc32(std::as_bytes(std::span(text))); }

TEST(Crc32, IsThatOfTheStandard) {
  EXPECT_EQ(crc32_of(""), 0U);
  EXPECT_EQ(crc32_of("123456789"), 0xCBF43926U);  // the check value of ISO 3309
  EXPECT_EQ(crc32_of("The quick brown fox jumps over the lazy dog"), 0x414FA339U);
}

TEST(Crc32, IsThatOfTheDefinitionBitByBit) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (std::size_t size = 0; size < 70; ++size) {
    std::vector<std::byte> bytes(size);
    std::uint32_t expected = 0xFFFFFFFFU;
    for (auto& byte : bytes) {
      byte = static_cast<std::byte>(random() & 0xFFU);
      expected ^= std::to_integer<std::uint32_t>(byte);
      for (int bit = 0; bit < 8; ++bit) {
        expected = (expected & 1U) != 0 ? (expected >> 1) ^ 0xEDB88320U : expected >> 1;
      }
    }
    EXPECT_EQ(crc32(bytes), ~expected) << size << " bytes";
  }
}

}  // namespace
}  // namespace gnomon::base
