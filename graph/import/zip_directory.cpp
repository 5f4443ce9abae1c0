#include "graph/import/zip_directory.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace gnomon::graph {
namespace {

// Records of the format (APPNOTE 6.3, section 4.3), by their signatures and fixed sizes.
constexpr std::string_view end_mark{"PK\5\6", 4};
constexpr std::string_view end64_mark{"PK\6\6", 4};
constexpr std::string_view locator_mark{"PK\6\7", 4};
constexpr std::string_view entry_mark{"PK\1\2", 4};
constexpr std::string_view local_mark{"PK\3\4", 4};
constexpr std::size_t end_bytes = 22;
constexpr std::size_t end64_bytes = 56;
constexpr std::size_t locator_bytes = 20;
constexpr std::size_t entry_bytes = 46;
constexpr std::size_t local_bytes = 30;
constexpr std::size_t max_comment = 65535;

/// Stands where a 64-bit field has the value.
constexpr auto in_64_bits = std::numeric_limits<std::uint32_t>::max();

/// Returns the little-endian number at `at`.
template <class T>
T number(std::string_view bytes, std::size_t at) {
  if (at + sizeof(T) > bytes.size()) {
    throw base::InputError("its directory is damaged");
  }
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

struct DirectoryPlace {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// The place of the directory by the record with 64-bit sizes, if there is one before `end`.
std::optional<DirectoryPlace> place64(const PositionedFile& file, std::uint64_t end) {
  if (end < locator_bytes) {
    return std::nullopt;
  }
  const std::string locator = file.read(end - locator_bytes, locator_bytes);
  if (!locator.starts_with(locator_mark)) {
    return std::nullopt;
  }
  const std::string record = file.read(number<std::uint64_t>(locator, 8), end64_bytes);
  if (!record.starts_with(end64_mark)) {
    throw base::InputError("its directory is damaged");
  }
  return DirectoryPlace{number<std::uint64_t>(record, 48), number<std::uint64_t>(record, 40)};
}

DirectoryPlace find_directory(const PositionedFile& file) {
  const auto searched =
      static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), end_bytes + max_comment));
  const std::string tail = file.read(file.size() - searched, searched);
  const std::size_t at =
      searched < end_bytes ? std::string::npos : tail.rfind(end_mark, searched - end_bytes);
  if (at == std::string::npos) {
    throw base::InputError("Not a zip archive");
  }
  const std::string_view end = std::string_view(tail).substr(at);
  const auto found = place64(file, file.size() - searched + at);
  return found.value_or(DirectoryPlace{number<std::uint32_t>(end, 16), number<std::uint32_t>(end, 12)});
}

/// Replaces the fields that do not fit 32 bits by those of the entry's extra field for them.
void read_large_fields(std::string_view extra, ZipEntry& entry) {
  constexpr std::uint16_t zip64 = 1;
  while (extra.size() >= 4) {
    const auto size = number<std::uint16_t>(extra, 2);
    std::string_view content = extra.substr(4, size);
    if (number<std::uint16_t>(extra, 0) == zip64) {
      for (std::uint64_t* field : {&entry.bytes, &entry.packed_bytes, &entry.header}) {
        if (*field == in_64_bits) {
          *field = number<std::uint64_t>(content, 0);
          content.remove_prefix(8);
        }
      }
      return;
    }
    extra.remove_prefix(std::min<std::size_t>(extra.size(), std::size_t{4} + size));
  }
}

/// Reads the entry at the beginning of `directory` and drops it there.
ZipEntry next_entry(std::string_view& directory) {
  if (!directory.starts_with(entry_mark)) {
    throw base::InputError("its directory is damaged");
  }
  const std::size_t name = number<std::uint16_t>(directory, 28);
  const std::size_t extra = number<std::uint16_t>(directory, 30);
  const std::size_t comment = number<std::uint16_t>(directory, 32);
  ZipEntry entry;
  entry.is_encrypted = (number<std::uint16_t>(directory, 8) & 1) != 0;
  entry.method = static_cast<ZipEntry::Method>(number<std::uint16_t>(directory, 10));
  entry.crc = number<std::uint32_t>(directory, 16);
  entry.packed_bytes = number<std::uint32_t>(directory, 20);
  entry.bytes = number<std::uint32_t>(directory, 24);
  entry.header = number<std::uint32_t>(directory, 42);
  if (entry_bytes + name + extra + comment > directory.size()) {
    throw base::InputError("its directory is damaged");
  }
  entry.name = directory.substr(entry_bytes, name);
  read_large_fields(directory.substr(entry_bytes + name, extra), entry);
  directory.remove_prefix(entry_bytes + name + extra + comment);
  return entry;
}

}  // namespace

std::vector<ZipEntry> read_zip_directory(const PositionedFile& file) {
  const DirectoryPlace place = find_directory(file);
  const std::string bytes = file.read(place.offset, static_cast<std::size_t>(place.bytes));
  std::vector<ZipEntry> entries;
  for (std::string_view left = bytes; !left.empty();) {
    entries.push_back(next_entry(left));
  }
  return entries;
}

std::uint64_t data_offset(const PositionedFile& file, const ZipEntry& entry) {
  const std::string local = file.read(entry.header, local_bytes);
  if (!local.starts_with(local_mark)) {
    throw base::InputError("has no header where the directory says");
  }
  return entry.header + local_bytes + number<std::uint16_t>(local, 26) + number<std::uint16_t>(local, 28);
}

}  // namespace gnomon::graph
