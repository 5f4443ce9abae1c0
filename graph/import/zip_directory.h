#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/import/positioned_file.h"

namespace gnomon::graph {

/// An entry of a zip file.
struct ZipEntry {
  enum class Method : std::uint16_t { stored = 0, deflated = 8 };
  std::string name;
  Method method = Method::stored;  ///< others are refused when the entry is opened
  bool is_encrypted = false;
  std::uint32_t crc = 0;           ///< CRC-32 of its bytes
  std::uint64_t packed_bytes = 0;  ///< in the file
  std::uint64_t bytes = 0;
  std::uint64_t header = 0;  ///< offset of its local header
};

/// Reads the directory at the end of a zip file, also of one with 64-bit sizes. Throws InputError, without
/// the file's name, if there is none.
std::vector<ZipEntry> read_zip_directory(const PositionedFile& file);

/// Returns the offset of the entry's packed bytes. Throws InputError, without the file's name.
std::uint64_t data_offset(const PositionedFile& file, const ZipEntry& entry);

}  // namespace gnomon::graph
