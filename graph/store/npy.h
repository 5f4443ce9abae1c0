#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "graph/store/mapped_file.h"

/// NumPy's .npy files (format versions 1 and 2; little-endian, C order).
namespace gnomon::graph {

enum class DType : std::uint8_t {
  bool8,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  bfloat16,  ///< "V2", as the package ml_dtypes writes it; NumPy itself has no bfloat16
  float32,
  float64
};

std::int64_t bytes_of(DType type);
/// Returns NumPy's type string, for instance "<f4".
std::string_view descr_of(DType type);
bool is_integer(DType type);

/// The header of a .npy file.
struct NpyHeader {
  DType type = DType::float32;
  std::vector<std::int64_t> shape;
  std::size_t data_offset = 0;

  std::int64_t elements() const;
  std::size_t data_bytes() const { return static_cast<std::size_t>(elements() * bytes_of(type)); }
  std::string shape_text() const;
};

/// The size of the preamble (magic, version, header length), in both versions.
inline constexpr std::size_t npy_preamble_bytes = 12;

/// Returns the offset of the data, from the first npy_preamble_bytes of a file. Throws InputError naming
/// `where`.
std::size_t npy_data_offset(std::span<const std::byte> preamble, const std::string& where);

/// Parses the header in the first npy_data_offset bytes of a file. Throws InputError, naming `where`, if it
/// is not a .npy header, for Fortran order, and for a big-endian or unknown type.
NpyHeader parse_npy_header(std::span<const std::byte> bytes, const std::string& where);

/// The fixed size of the headers that we write. It does not depend on the shape, which may be known only at
/// the end, and aligns the data to a block of any disk, as direct I/O (O_DIRECT) requires.
inline constexpr std::size_t npy_header_bytes = 4096;
std::string format_npy_header(DType type, const std::vector<std::int64_t>& shape);

/// A memory-mapped .npy file.
struct MappedNpy {
  std::filesystem::path path;
  NpyHeader header;
  MappedFile file;

  template <class T>
  std::span<const T> span() const {
    return {reinterpret_cast<const T*>(file.data() + header.data_offset),
            static_cast<std::size_t>(header.elements())};
  }
};

/// Maps a .npy file. Throws InputError if its size does not match its header.
MappedNpy map_npy(const std::filesystem::path& path);

/// Throws InputError if the array's type or shape differs.
void expect_npy(const MappedNpy& npy, DType type, const std::vector<std::int64_t>& shape);

/// Writes a .npy file sequentially; the number of rows need not be known beforehand. finish() creates `path`
/// atomically. Throws Failure on I/O errors.
class NpyWriter {
 public:
  /// `columns` is 0 for a one-dimensional array.
  NpyWriter(const std::filesystem::path& path, DType type, std::int64_t columns = 0);
  void write(const void* elements, std::int64_t count);
  template <class T>
  void write(std::span<const T> elements) {
    write(elements.data(), static_cast<std::int64_t>(elements.size()));
  }
  void finish();

 private:
  base::AtomicFile file_;
  DType type_;
  std::int64_t columns_;
  std::int64_t written_ = 0;
};

}  // namespace gnomon::graph
