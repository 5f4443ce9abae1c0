#pragma once

#include <cstdint>

#include "base/philox.h"

namespace gnomon::kernels::cpu {

/// Elements that one block of random words decides on.
inline constexpr std::int64_t dropout_block = 8;

/// Which elements are dropped is a pure function of the stream's name (whose item is not used) and the
/// element's number: its 16 bits of the stream lie below the threshold.
struct DropoutRule {
  base::StreamKey key;
  std::uint32_t threshold = 0;  ///< the chance in 65,536ths, below 65,536
  float scale() const { return 65536.0F / static_cast<float>(65536U - threshold); }
};

/// to[i] = 0 where element first + i is dropped, else from[i] · scale, for i in 0 … count-1. `first` is a
/// multiple of dropout_block. `from` and `to` may be the same.
void dropout(const DropoutRule& rule, std::int64_t first, std::int64_t count, const float* from, float* to);

/// The same of max(from[i], 0).
void relu_dropout(const DropoutRule& rule, std::int64_t first, std::int64_t count, const float* from,
                  float* to);

/// The gradient of its input: to[i] = gradient[i] · scale where `out`, what it wrote, is not 0, else 0.
void relu_dropout_gradient(float scale, std::int64_t count, const float* out, const float* gradient,
                           float* to);

}  // namespace gnomon::kernels::cpu
