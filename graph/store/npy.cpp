#include "graph/store/npy.h"

#include <array>
#include <charconv>
#include <cstring>

#include "base/error.h"

namespace gnomon::graph {
namespace {

struct TypeFacts {
  DType type;
  std::string_view descr;
  std::int64_t bytes;
};

constexpr std::array<TypeFacts, 13> type_facts{{{DType::bool8, "|b1", 1},
                                                {DType::int8, "|i1", 1},
                                                {DType::uint8, "|u1", 1},
                                                {DType::int16, "<i2", 2},
                                                {DType::uint16, "<u2", 2},
                                                {DType::int32, "<i4", 4},
                                                {DType::uint32, "<u4", 4},
                                                {DType::int64, "<i8", 8},
                                                {DType::uint64, "<u8", 8},
                                                {DType::float16, "<f2", 2},
                                                {DType::bfloat16, "<V2", 2},
                                                {DType::float32, "<f4", 4},
                                                {DType::float64, "<f8", 8}}};

constexpr std::string_view magic = "\x93NUMPY";

/// Returns the text behind a key such as "'shape':" in the header's dictionary, without leading blanks.
std::string_view value_after(std::string_view dictionary, std::string_view key, const std::string& where) {
  const auto at = dictionary.find(key);
  if (at == std::string_view::npos) {
    throw base::InputError(where, "its .npy header has no " + std::string(key.substr(0, key.size() - 1)));
  }
  auto rest = dictionary.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

DType parse_type(std::string_view dictionary, const std::string& where) {
  const auto value = value_after(dictionary, "'descr':", where);
  const auto end = value.find('\'', 1);
  std::string descr(value.starts_with('\'') && end != std::string_view::npos ? value.substr(1, end - 1)
                                                                             : value.substr(0, 20));
  if (descr.starts_with('=') || descr == "|V2") {
    descr[0] = '<';
  }
  for (const auto& facts : type_facts) {
    if (facts.descr == descr ||
        (facts.bytes == 1 && descr.size() == 3 && facts.descr.ends_with(descr.substr(1)))) {
      return facts.type;
    }
  }
  throw base::InputError(where, "type " + descr + " cannot be read; use a little-endian bool, int or float");
}

std::vector<std::int64_t> parse_shape(std::string_view dictionary, const std::string& where) {
  auto text = value_after(dictionary, "'shape':", where);
  std::vector<std::int64_t> shape;
  const auto close = text.find(')');
  if (text.starts_with('(') && close != std::string_view::npos) {
    text = text.substr(1, close - 1);
    while (text.find_first_not_of(", ") != std::string_view::npos) {
      text.remove_prefix(text.find_first_not_of(", "));
      std::int64_t extent = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
      if (error != std::errc{} || extent < 0) {
        break;
      }
      shape.push_back(extent);
      text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    }
    if (text.find_first_not_of(", ") == std::string_view::npos) {
      return shape;
    }
  }
  throw base::InputError(where, "its .npy header has no valid shape");
}

/// Throws InputError if the size in bytes overflows.
void check_extent(const NpyHeader& header, const std::string& where) {
  std::int64_t bytes = bytes_of(header.type);
  for (const std::int64_t extent : header.shape) {
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(extent, 1), &bytes)) {
      throw base::InputError(where, "shape " + header.shape_text() + " is too large");
    }
  }
}

}  // namespace

std::int64_t bytes_of(DType type) { return type_facts[static_cast<std::size_t>(type)].bytes; }
std::string_view descr_of(DType type) { return type_facts[static_cast<std::size_t>(type)].descr; }
bool is_integer(DType type) { return type < DType::float16; }

std::int64_t NpyHeader::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) {
    product *= extent;
  }
  return product;
}

std::string NpyHeader::shape_text() const {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += i > 0 ? ", " : "";
    text += std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::size_t npy_data_offset(std::span<const std::byte> preamble, const std::string& where) {
  if (preamble.size() < npy_preamble_bytes || std::memcmp(preamble.data(), magic.data(), magic.size()) != 0) {
    throw base::InputError(where, "is not a .npy file");
  }
  const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(preamble[i]); };
  switch (byte(6)) {
    case 1:
      return 10 + (byte(8) | (byte(9) << 8));
    case 2:
    case 3: {
      const std::size_t length = byte(8) | (byte(9) << 8) | (byte(10) << 16) | (byte(11) << 24);
      if (length < (1U << 20)) {
        return 12 + length;
      }
      break;
    }
    default:
      break;
  }
  throw base::InputError(where, "has a .npy header that cannot be read; use format version 1 or 2");
}

NpyHeader parse_npy_header(std::span<const std::byte> bytes, const std::string& where) {
  NpyHeader header;
  header.data_offset = npy_data_offset(bytes, where);
  if (bytes.size() < header.data_offset) {
    throw base::InputError(where, "is truncated inside its .npy header");
  }
  const std::size_t start = std::to_integer<int>(bytes[6]) == 1 ? 10 : 12;
  const std::string_view dictionary(reinterpret_cast<const char*>(bytes.data()) + start,
                                    header.data_offset - start);
  header.type = parse_type(dictionary, where);
  header.shape = parse_shape(dictionary, where);
  if (!value_after(dictionary, "'fortran_order':", where).starts_with("False") && header.shape.size() > 1) {
    throw base::InputError(where, "is in Fortran order; save it in C order (numpy.ascontiguousarray)");
  }
  check_extent(header, where);
  return header;
}

std::string format_npy_header(DType type, const std::vector<std::int64_t>& shape) {
  NpyHeader header{type, shape, 0};
  std::string text(magic);
  constexpr std::size_t length = npy_header_bytes - 10;
  text += {'\x01', '\x00', static_cast<char>(length % 256), static_cast<char>(length / 256)};
  text += "{'descr': '" + std::string(descr_of(type)) +
          "', 'fortran_order': False, 'shape': " + header.shape_text() + ", }";
  text.resize(npy_header_bytes - 1, ' ');
  return text + "\n";
}

MappedNpy map_npy(const std::filesystem::path& path) {
  MappedNpy npy{path, {}, MappedFile::open(path)};
  const std::string where = path.string();
  npy.header = parse_npy_header({npy.file.data(), npy.file.size()}, where);
  const std::size_t expected = npy.header.data_offset + npy.header.data_bytes();
  if (npy.file.size() != expected) {
    throw base::InputError(
        where, std::string(npy.file.size() < expected ? "is truncated: " : "is too long: ") +
                   std::to_string(npy.file.size()) + " bytes, where shape " + npy.header.shape_text() +
                   " needs " + std::to_string(expected));
  }
  if (npy.header.data_offset % static_cast<std::size_t>(bytes_of(npy.header.type)) != 0) {
    throw base::InputError(where, "its header leaves the data unaligned; save it again with NumPy");
  }
  return npy;
}

void expect_npy(const MappedNpy& npy, DType type, const std::vector<std::int64_t>& shape) {
  if (npy.header.type != type) {
    throw base::InputError(npy.path.string(), "has type " + std::string(descr_of(npy.header.type)) +
                                                  "; must be " + std::string(descr_of(type)));
  }
  if (npy.header.shape != shape) {
    throw base::InputError(npy.path.string(), "has shape " + npy.header.shape_text() + "; must be " +
                                                  NpyHeader{type, shape, 0}.shape_text());
  }
}

NpyWriter::NpyWriter(const std::filesystem::path& path, DType type, std::int64_t columns)
    : file_(path), type_(type), columns_(columns) {
  const std::string header = format_npy_header(type_, {0});
  file_.write(header.data(), header.size());
}

void NpyWriter::write(const void* elements, std::int64_t count) {
  file_.write(elements, static_cast<std::size_t>(count * bytes_of(type_)));
  written_ += count;
}

void NpyWriter::finish() {
  const auto shape = columns_ > 0 ? std::vector<std::int64_t>{written_ / columns_, columns_}
                                  : std::vector<std::int64_t>{written_};
  const std::string header = format_npy_header(type_, shape);
  file_.write_at(0, header.data(), header.size());
  file_.commit();
}

}  // namespace gnomon::graph
