#pragma once

#include "kernels/device/dropout.h"
#include "kernels/device/half.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {
namespace passes {

/// One index per block of random words.
template <bool relu, class T = float>
struct DropBlock {
  DropoutRule rule;
  std::int64_t count;
  const T* from;
  float* to;
  constexpr void operator()(std::int64_t block) const {
    const base::Words4 words = rule.words(block);
    const float scale = rule.scale();
    for (std::int64_t i = 0; i < dropout_block && block * dropout_block + i < count; ++i) {
      const float value = float_of(from[block * dropout_block + i]);
      const bool is_dropped = rule.is_dropped(words, i) || (relu && value < 0);
      to[block * dropout_block + i] = is_dropped ? 0.0F : value * scale;
    }
  }
};

struct ReluDropoutGradient {
  float scale;
  const float* kept;
  const float* from;
  float* to;
  constexpr void operator()(std::int64_t i) const { to[i] = kept[i] == 0 ? 0.0F : from[i] * scale; }
};

}  // namespace passes

template <class Executor>
void dropout(Executor& executor, const DropoutRule& rule, std::int64_t count, const float* from, float* to) {
  executor.for_each((count + dropout_block - 1) / dropout_block,
                    passes::DropBlock<false>{rule, count, from, to});
}

template <class Executor>
void dropout(Executor& executor, const DropoutRule& rule, std::int64_t count, const std::uint16_t* from,
             float* to) {
  executor.for_each((count + dropout_block - 1) / dropout_block,
                    passes::DropBlock<false, std::uint16_t>{rule, count, from, to});
}

template <class Executor>
void dropout(Executor& executor, const DropoutRule& rule, std::int64_t count, const Bf16* from, float* to) {
  executor.for_each((count + dropout_block - 1) / dropout_block,
                    passes::DropBlock<false, Bf16>{rule, count, from, to});
}

template <class Executor>
void relu_dropout(Executor& executor, const DropoutRule& rule, std::int64_t count, const float* from,
                  float* to) {
  executor.for_each((count + dropout_block - 1) / dropout_block,
                    passes::DropBlock<true>{rule, count, from, to});
}

template <class Executor>
void relu_dropout_gradient(Executor& executor, float scale, std::int64_t count, const float* out,
                           const float* from, float* to) {
  executor.for_each(count, passes::ReluDropoutGradient{scale, out, from, to});
}

}  // namespace gnomon::kernels::device
