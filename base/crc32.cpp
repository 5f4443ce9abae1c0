#include "base/crc32.h"

#include <array>
#include <cstring>

namespace gnomon::base {
namespace {

constexpr std::size_t slices = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, slices>;

/// Table k holds the remainder of each byte that k zero bytes follow, so that eight bytes are taken at a time
/// (Kounavis and Berry, "A systematic approach to building high performance software-based CRC generators",
/// ISCC 2005).
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) {
      remainder = (remainder >> 1) ^ ((remainder & 1U) != 0 ? 0xEDB88320U : 0U);
    }
    tables[0][byte] = remainder;
  }
  for (std::size_t slice = 1; slice < slices; ++slice) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xFFU];
    }
  }
  return tables;
}

constexpr Tables tables = make_tables();

std::uint32_t next(std::uint32_t crc, std::uint64_t word) {
  word ^= crc;
  crc = 0;
  for (std::size_t i = 0; i < slices; ++i) {
    crc ^= tables[slices - 1 - i][(word >> (8 * i)) & 0xFFU];
  }
  return crc;
}

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (; bytes.size() >= slices; bytes = bytes.subspan(slices)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), slices);
    crc = next(crc, word);
  }
  for (const std::byte byte : bytes) {
    crc = (crc >> 8) ^ tables[0][(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xFFU];
  }
  return ~crc;
}

}  // namespace gnomon::base
