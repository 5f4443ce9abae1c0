#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gnomon::base {

/// The units of sizes, for --help.
inline constexpr std::string_view size_units =
    "bytes, or a number with a unit: kB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB (powers of 1024)";

/// Reads a size in bytes: "4096", "1.5GB", "8 GiB". kB, MB, GB and TB are powers of 1000; KiB, MiB, GiB and
/// TiB powers of 1024. Units are case-insensitive, and the B is optional. Throws InputError that names
/// `where`.
std::int64_t parse_size(const std::string& where, std::string_view text);

}  // namespace gnomon::base
