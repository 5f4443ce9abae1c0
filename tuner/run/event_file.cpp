#include "tuner/run/event_file.h"

#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <type_traits>

#include "base/error.h"

static_assert(std::endian::native == std::endian::little);

namespace gnomon::tuner {
namespace {

/// Field numbers of the messages Event, Summary and Summary.Value.
constexpr int event_wall_time = 1;
constexpr int event_step = 2;
constexpr int event_file_version = 3;
constexpr int event_summary = 5;
constexpr int summary_value = 1;
constexpr int value_tag = 1;
constexpr int value_simple_value = 2;

/// Wire types of protocol buffers.
enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) {
    bytes += static_cast<char>(value | 0x80);
  }
  return bytes + static_cast<char>(value);
}

std::string tag_of(int field, Wire wire) {
  return varint((static_cast<std::uint64_t>(field) << 3) | static_cast<std::uint64_t>(wire));
}

/// The bytes of a number in memory.
template <class T>
std::string raw(T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string bytes_field(int field, const std::string& bytes) {
  return tag_of(field, Wire::bytes) + varint(bytes.size()) + bytes;
}

std::string wall_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return tag_of(event_wall_time, Wire::fixed64) + raw(std::chrono::duration<double>(now).count());
}

/// RecordWriter::MaskedCrc, because a CRC of data that contains CRCs is weak.
std::uint32_t masked_crc(std::string_view bytes) {
  const auto crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8U;
}

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0x82F63B78U : 0U);
    }
    table[byte] = crc;
  }
  return table;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

/// A name that no file in the directory has.
std::filesystem::path new_file(const std::filesystem::path& directory) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  const auto name = "events.out.tfevents." + std::to_string(seconds.count()) + "." + host_name() + "." +
                    std::to_string(::getpid()) + ".";
  for (int counter = 0;; ++counter) {
    auto path = directory / (name + std::to_string(counter));
    if (!std::filesystem::exists(path)) {
      return path;
    }
  }
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static constexpr auto table = make_crc_table();
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xFFU];
  }
  return ~crc;
}

EventFile::EventFile(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    throw base::Failure(directory.string(), "cannot be created: " + error.message());
  }
  path_ = new_file(directory);
  append_record(wall_time() + bytes_field(event_file_version, "brain.Event:2"));
}

void EventFile::append(std::int64_t step, const std::vector<Scalar>& scalars) {
  std::string summary;
  for (const auto& [tag, value] : scalars) {
    if (!std::isnan(value)) {
      summary +=
          bytes_field(summary_value, bytes_field(value_tag, tag) + tag_of(value_simple_value, Wire::fixed32) +
                                         raw(static_cast<float>(value)));
    }
  }
  append_record(wall_time() + tag_of(event_step, Wire::varint) + varint(static_cast<std::uint64_t>(step)) +
                bytes_field(event_summary, summary));
}

void EventFile::append_record(const std::string& event) {
  const auto length = raw(static_cast<std::uint64_t>(event.size()));
  std::ofstream file(path_, std::ios::binary | std::ios::app);
  file << length << raw(masked_crc(length)) << event << raw(masked_crc(event));
  if (!file.flush()) {
    throw base::Failure(path_.string(), "cannot be written");
  }
}

}  // namespace gnomon::tuner
