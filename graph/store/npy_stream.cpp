#include "graph/store/npy_stream.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>

#include "base/error.h"
#include "graph/feature_bits.h"

namespace gnomon::graph {
namespace {

template <class From, class To>
void convert(const std::byte* bytes, std::span<To> elements) {
  for (std::size_t i = 0; i < elements.size(); ++i) {
    From value;
    std::memcpy(&value, bytes + i * sizeof(From), sizeof(From));
    elements[i] = static_cast<To>(value);  // NOLINT(bugprone-signed-char-misuse): int8 is a number here
  }
}

/// `Bits` is one of graph/feature_bits.h.
template <class Bits, class To>
void convert_bits(const std::byte* bytes, std::span<To> elements) {
  for (std::size_t i = 0; i < elements.size(); ++i) {
    typename Bits::Word word{};
    std::memcpy(&word, bytes + i * sizeof(word), sizeof(word));
    elements[i] = static_cast<To>(Bits::to_float(word));
  }
}

template <class To>
void convert(DType type, const std::byte* bytes, std::span<To> elements) {
  switch (type) {
    case DType::bool8:
    case DType::uint8:
      return convert<std::uint8_t>(bytes, elements);
    case DType::int8:
      return convert<std::int8_t>(bytes, elements);
    case DType::int16:
      return convert<std::int16_t>(bytes, elements);
    case DType::uint16:
      return convert<std::uint16_t>(bytes, elements);
    case DType::int32:
      return convert<std::int32_t>(bytes, elements);
    case DType::uint32:
      return convert<std::uint32_t>(bytes, elements);
    case DType::int64:
      return convert<std::int64_t>(bytes, elements);
    case DType::uint64:
      return convert<std::uint64_t>(bytes, elements);
    case DType::float16:
      return convert_bits<Fp16Bits>(bytes, elements);
    case DType::bfloat16:
      return convert_bits<Bf16Bits>(bytes, elements);
    case DType::float32:
      return convert<float>(bytes, elements);
    case DType::float64:
      return convert<double>(bytes, elements);
  }
}

}  // namespace

NpyStream::NpyStream(ByteReader read, std::string where) : read_(std::move(read)), where_(std::move(where)) {
  std::vector<std::byte> header(npy_preamble_bytes);
  header.resize(read_(header.data(), header.size()));
  const std::size_t offset = npy_data_offset(header, where_);
  header.resize(std::max(offset, npy_preamble_bytes));
  const std::size_t rest = header.size() - npy_preamble_bytes;
  header.resize(npy_preamble_bytes + read_(header.data() + npy_preamble_bytes, rest));
  header_ = parse_npy_header(header, where_);
}

const std::byte* NpyStream::next_bytes(std::size_t count) {
  const std::size_t bytes = count * static_cast<std::size_t>(bytes_of(header_.type));
  bytes_.resize(bytes);
  if (read_(bytes_.data(), bytes) != bytes) {
    throw base::InputError(where_, "is truncated: shape " + header_.shape_text() + " needs " +
                                       std::to_string(header_.elements()) + " numbers");
  }
  done_ += static_cast<std::int64_t>(count);
  return bytes_.data();
}

template <class T>
void NpyStream::read_as(std::span<T> elements) {
  if (done_ + static_cast<std::int64_t>(elements.size()) > header_.elements()) {
    throw base::InputError(where_,
                           "has only " + std::to_string(header_.elements()) + " numbers; more are needed");
  }
  convert(header_.type, next_bytes(elements.size()), elements);
}

void NpyStream::read(std::span<std::int64_t> elements) {
  if (!is_integer(header_.type)) {
    throw base::InputError(where_, "has type " + std::string(descr_of(header_.type)) + "; must be integers");
  }
  read_as(elements);
}

void NpyStream::read(std::span<float> elements) { read_as(elements); }
void NpyStream::read(std::span<double> elements) { read_as(elements); }

void NpyStream::skip(std::int64_t count) {
  constexpr std::int64_t block = 1 << 16;
  for (; count > 0; count -= block) {
    next_bytes(static_cast<std::size_t>(std::min(block, count)));
  }
}

NpyStream open_npy_stream(const std::filesystem::path& path) {
  const auto file = std::make_shared<std::ifstream>(path, std::ios::binary);
  if (!*file || std::filesystem::is_directory(path)) {
    throw base::InputError(path.string(), "cannot be read");
  }
  const auto read = [file](void* buffer, std::size_t bytes) {
    file->read(static_cast<char*>(buffer), static_cast<std::streamsize>(bytes));
    return static_cast<std::size_t>(file->gcount());
  };
  return {read, path.string()};
}

}  // namespace gnomon::graph
