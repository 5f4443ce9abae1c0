#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/store/npy.h"

namespace gnomon::graph {

/// Reads up to `bytes` bytes into `buffer` and returns their number, which is smaller only at the end.
using ByteReader = std::function<std::size_t(void* buffer, std::size_t bytes)>;

/// Reads a .npy sequentially, from a file or a zip entry, and converts its elements. Throws InputError,
/// naming `where`, if it is not a .npy, is truncated, or has floats where integers are required.
class NpyStream {
 public:
  NpyStream(ByteReader read, std::string where);

  const std::string& where() const { return where_; }
  const std::vector<std::int64_t>& shape() const { return header_.shape; }
  std::string shape_text() const { return header_.shape_text(); }
  DType type() const { return header_.type; }
  std::int64_t elements() const { return header_.elements(); }
  /// The first and the second extent; 1 for an extent that the shape lacks.
  std::int64_t rows() const { return header_.shape.empty() ? 1 : header_.shape[0]; }
  std::int64_t columns() const { return header_.shape.size() < 2 ? 1 : header_.shape[1]; }

  /// Reads the next elements. Integers are read from integer arrays only, floats and doubles from any array.
  void read(std::span<std::int64_t> elements);
  void read(std::span<float> elements);
  void read(std::span<double> elements);
  void skip(std::int64_t count);

 private:
  template <class T>
  void read_as(std::span<T> elements);
  const std::byte* next_bytes(std::size_t count);

  ByteReader read_;
  std::string where_;
  NpyHeader header_;
  std::int64_t done_ = 0;
  std::vector<std::byte> bytes_;
};

/// Opens a .npy file as a stream. Throws InputError.
NpyStream open_npy_stream(const std::filesystem::path& path);

/// Reads all elements of a stream from its beginning. Throws InputError if their number is not `expected`.
template <class T>
std::vector<T> read_all(NpyStream stream, std::int64_t expected) {
  if (stream.elements() != expected) {
    throw base::InputError(stream.where(), "has " + std::to_string(stream.elements()) + " numbers; must be " +
                                               std::to_string(expected));
  }
  std::vector<T> elements(static_cast<std::size_t>(expected));
  constexpr std::size_t block = std::size_t{1} << 16;
  for (std::size_t begin = 0; begin < elements.size(); begin += block) {
    stream.read(std::span<T>(elements).subspan(begin, std::min(block, elements.size() - begin)));
  }
  return elements;
}

/// Reads a stream element by element through a buffer of 64 Ki elements.
template <class T>
class Elements {
 public:
  explicit Elements(NpyStream stream, std::int64_t skipped = 0)
      : stream_(std::move(stream)), left_(stream_.elements() - skipped) {
    stream_.skip(skipped);
  }
  T next() {
    if (position_ == block_.size()) {
      block_.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(left_, 1, 1 << 16)));
      left_ -= static_cast<std::int64_t>(block_.size());
      stream_.read(std::span<T>(block_));
      position_ = 0;
    }
    return block_[position_++];
  }

 private:
  NpyStream stream_;
  std::int64_t left_;
  std::vector<T> block_;
  std::size_t position_ = 0;
};

}  // namespace gnomon::graph
