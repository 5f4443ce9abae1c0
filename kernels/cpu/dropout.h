#pragma once

#include <cstdint>

#include "kernels/dropout_rule.h"

namespace gnomon::kernels::cpu {

/// Dropout: to[i] is 0 if element first + i is dropped and from[i] · scale otherwise, for i in 0 … count-1.
/// `from` and `to` may be equal. Precondition: `first` is a multiple of dropout_block.
void dropout(const DropoutRule& rule, std::int64_t first, std::int64_t count, const float* from, float* to);

/// Dropout of max(from[i], 0).
void relu_dropout(const DropoutRule& rule, std::int64_t first, std::int64_t count, const float* from,
                  float* to);

/// The gradient of relu_dropout with respect to its input: to[i] is gradient[i] · scale if its output out[i]
/// is not 0, and 0 otherwise.
void relu_dropout_gradient(float scale, std::int64_t count, const float* out, const float* gradient,
                           float* to);

/// Writes the keep mask (kernels/dropout_rule.h) of elements first … first + count - 1 to bits[0 …], in whole
/// bytes; the bits beyond the last element are undefined. Precondition: `first` is a multiple of
/// dropout_block.
void kept_elements(const DropoutRule& rule, std::int64_t first, std::int64_t count, std::uint8_t* bits);

}  // namespace gnomon::kernels::cpu
