#pragma once

namespace gnomon::base {

/// Half width of the 95 % interval of a normal distribution, over its standard deviation.
inline constexpr double normal_half_width = 1.96;

}  // namespace gnomon::base
