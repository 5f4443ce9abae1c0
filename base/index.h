#pragma once

#include <cstddef>
#include <cstdint>

namespace gnomon::base {

/// Casts a non-negative position to the index type of standard containers.
constexpr std::size_t at(std::int64_t position) { return static_cast<std::size_t>(position); }

}  // namespace gnomon::base
