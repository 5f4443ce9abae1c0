#pragma once

#include <cstdint>

namespace gnomon::kernels::cpu {

/// Rounds from[0 … count-1] to the nearest bf16 numbers, ties to even, and writes their bits. NaN stays NaN.
void round_to_bf16(const float* from, std::int64_t count, std::uint16_t* to);

}  // namespace gnomon::kernels::cpu
