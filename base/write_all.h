#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace gnomon::base {

/// Where write_all() writes if no offset is given: at the position of the file.
inline constexpr std::int64_t at_position = -1;

/// Writes all bytes to an open file, however often a write is interrupted or short. Throws Failure, which
/// names `path` and the reason.
void write_all(int descriptor, const std::filesystem::path& path, std::string_view bytes,
               std::int64_t offset = at_position);

}  // namespace gnomon::base
