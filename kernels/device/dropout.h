#pragma once

#include <cstdint>

#include "kernels/device/executor.h"
#include "kernels/dropout_rule.h"

// Also compiled by nvcc as C++17.

/// kernels/cpu/dropout.h on a device, bit for bit.
namespace gnomon::kernels::device {

/// to[i] = 0 where element i is dropped, else from[i] · scale.
template <class Executor>
void dropout(Executor& executor, const DropoutRule& rule, std::int64_t count, const float* from, float* to);

/// The same of max(from[i], 0).
template <class Executor>
void relu_dropout(Executor& executor, const DropoutRule& rule, std::int64_t count, const float* from,
                  float* to);

}  // namespace gnomon::kernels::device
