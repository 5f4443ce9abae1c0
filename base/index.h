#pragma once

#include <cstddef>
#include <cstdint>

namespace gnomon::base {

/// A position that is not negative, as the standard library's containers take it.
constexpr std::size_t at(std::int64_t position) { return static_cast<std::size_t>(position); }

}  // namespace gnomon::base
