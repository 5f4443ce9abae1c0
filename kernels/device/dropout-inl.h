#pragma once

#include "kernels/device/dropout.h"
#include "kernels/device/half.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {
namespace passes {

/// The elements of a block of random words, which a thread loads and stores in units of 16 bytes.
template <class T>
struct alignas(16) ElementsOfBlock {
  T value[dropout_block];
};

/// One index per block of random words.
template <bool relu, class T = float>
struct DropBlock {
  DropoutRule rule;
  std::int64_t count;
  const T* from;
  float* to;
  /// The same as blocks; null unless both are aligned.
  const ElementsOfBlock<T>* blocks_from = nullptr;
  ElementsOfBlock<float>* blocks_to = nullptr;

  constexpr void operator()(std::int64_t block) const {
    const base::Words4 words = rule.words(block);
    const std::int64_t begin = block * dropout_block;
    if (blocks_to != nullptr && begin + dropout_block <= count) {
      const ElementsOfBlock<T> values = blocks_from[block];
      ElementsOfBlock<float> results{};
      for (std::int64_t i = 0; i < dropout_block; ++i) {
        results.value[i] = dropped(words, i, values.value[i]);
      }
      blocks_to[block] = results;
      return;
    }
    for (std::int64_t i = 0; i < dropout_block && begin + i < count; ++i) {
      to[begin + i] = dropped(words, i, from[begin + i]);
    }
  }

 private:
  constexpr float dropped(const base::Words4& words, std::int64_t i, T element) const {
    const float value = float_of(element);
    const bool is_dropped = rule.is_dropped(words, i) || (relu && value < 0);
    return is_dropped ? 0.0F : value * rule.scale();
  }
};

template <bool relu, class T>
DropBlock<relu, T> drop_block(const DropoutRule& rule, std::int64_t count, const T* from, float* to) {
  DropBlock<relu, T> body{rule, count, from, to};
  const auto is_aligned = [](const void* at) {
    return reinterpret_cast<std::uintptr_t>(at) % alignof(ElementsOfBlock<T>) == 0;
  };
  if (is_aligned(from) && is_aligned(to)) {
    body.blocks_from = reinterpret_cast<const ElementsOfBlock<T>*>(from);
    body.blocks_to = reinterpret_cast<ElementsOfBlock<float>*>(to);
  }
  return body;
}

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
                    passes::drop_block<false>(rule, count, from, to));
}

template <class Executor>
void dropout(Executor& executor, const DropoutRule& rule, std::int64_t count, const std::uint16_t* from,
             float* to) {
  executor.for_each((count + dropout_block - 1) / dropout_block,
                    passes::drop_block<false>(rule, count, from, to));
}

template <class Executor>
void dropout(Executor& executor, const DropoutRule& rule, std::int64_t count, const Bf16* from, float* to) {
  executor.for_each((count + dropout_block - 1) / dropout_block,
                    passes::drop_block<false>(rule, count, from, to));
}

template <class Executor>
void relu_dropout(Executor& executor, const DropoutRule& rule, std::int64_t count, const float* from,
                  float* to) {
  executor.for_each((count + dropout_block - 1) / dropout_block,
                    passes::drop_block<true>(rule, count, from, to));
}

template <class Executor>
void relu_dropout_gradient(Executor& executor, float scale, std::int64_t count, const float* out,
                           const float* from, float* to) {
  executor.for_each(count, passes::ReluDropoutGradient{scale, out, from, to});
}

}  // namespace gnomon::kernels::device
