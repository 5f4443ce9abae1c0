#pragma once

#include <cstdint>

#include "kernels/device/executor.h"
#include "kernels/device/half.h"
#include "kernels/dropout_rule.h"

// Also compiled by nvcc as C++17.

/// The dropout of kernels/cpu/dropout.h on a device, with the same bits.
namespace gnomon::kernels::device {

/// Dropout: to[i] is 0 if element i is dropped and from[i] · scale otherwise.
template <class Executor>
void dropout(Executor& executor, const DropoutRule& rule, std::int64_t count, const float* from, float* to);

/// Dropout of fp16 numbers, given as their bits, and of bf16 numbers.
template <class Executor>
void dropout(Executor& executor, const DropoutRule& rule, std::int64_t count, const std::uint16_t* from,
             float* to);
template <class Executor>
void dropout(Executor& executor, const DropoutRule& rule, std::int64_t count, const Bf16* from, float* to);

/// Dropout of max(from[i], 0).
template <class Executor>
void relu_dropout(Executor& executor, const DropoutRule& rule, std::int64_t count, const float* from,
                  float* to);

/// The gradient of relu_dropout: to[i] is from[i] · scale, or 0 where its result `out` is 0.
template <class Executor>
void relu_dropout_gradient(Executor& executor, float scale, std::int64_t count, const float* out,
                           const float* from, float* to);

}  // namespace gnomon::kernels::device
