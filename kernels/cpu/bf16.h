#pragma once

#include <cstdint>

namespace gnomon::kernels::cpu {

/// Writes the bf16 numbers nearest to from[i], of two equally near ones the even one, as their bits; NaN
/// stays NaN.
void round_to_bf16(const float* from, std::int64_t count, std::uint16_t* to);

}  // namespace gnomon::kernels::cpu
