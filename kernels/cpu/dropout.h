#pragma once

#include <cstdint>

#include "kernels/dropout_rule.h"

namespace gnomon::kernels::cpu {

/// to[i] = 0 where element first + i is dropped, else from[i] · scale, for i in 0 … count-1. `first` is a
/// multiple of dropout_block. `from` and `to` may be the same.
void dropout(const DropoutRule& rule, std::int64_t first, std::int64_t count, const float* from, float* to);

/// The same of max(from[i], 0).
void relu_dropout(const DropoutRule& rule, std::int64_t first, std::int64_t count, const float* from,
                  float* to);

/// The gradient of its input: to[i] = gradient[i] · scale where `out`, what it wrote, is not 0, else 0.
void relu_dropout_gradient(float scale, std::int64_t count, const float* out, const float* gradient,
                           float* to);

/// Writes the bits of elements first … first + count - 1 (kernels/dropout_rule.h) to bits[0 …], as many bytes
/// as hold one; those beyond the last element are not defined. `first` is a multiple of dropout_block.
void kept_elements(const DropoutRule& rule, std::int64_t first, std::int64_t count, std::uint8_t* bits);

}  // namespace gnomon::kernels::cpu
