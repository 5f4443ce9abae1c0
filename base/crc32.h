#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gnomon::base {

/// Returns the CRC-32 of bytes as zlib, gzip and PNG define it (reflected polynomial 0xEDB88320; ISO 3309).
std::uint32_t crc32(std::span<const std::byte> bytes);

}  // namespace gnomon::base
