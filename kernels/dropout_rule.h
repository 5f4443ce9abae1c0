#pragma once

#include <cstdint>

#include "base/philox.h"

// Also compiled by nvcc as C++17: this header is the one definition of which elements are dropped.

namespace gnomon::kernels {

/// The number of elements that one block of four random words decides on.
inline constexpr std::int64_t dropout_block = 8;

/// The part of a random stream's key that a training step has for itself.
struct StepNumber {
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;
};

/// Element i is dropped if its 16 bits of the random stream are below the threshold. The set of dropped
/// elements is thus a pure function of the stream key (whose item is ignored) and the element's index.
struct DropoutRule {
  base::StreamKey key;
  std::uint32_t threshold = 0;  ///< the dropout probability times 65,536, below 65,536
  /// If not null, where a device finds the key's epoch and batch, in its memory.
  const StepNumber* number = nullptr;

  constexpr float scale() const { return 65536.0F / static_cast<float>(65536U - threshold); }

  /// Returns the random words of elements block · dropout_block … (block + 1) · dropout_block - 1.
  constexpr base::Words4 words(std::int64_t block) const {
    base::StreamKey stream = key;
    stream.item = static_cast<std::uint64_t>(block);
    if (number != nullptr) {
      stream.epoch = number->epoch;
      stream.batch = number->batch;
    }
    return base::random_words(stream, 0);
  }
  /// Whether the i-th element of a block is dropped, given the block's words.
  constexpr bool is_dropped(const base::Words4& words_of_block, std::int64_t i) const {
    return ((words_of_block.word[i / 2] >> (16 * (i % 2))) & 0xFFFFU) < threshold;
  }
  /// Returns the keep mask of a block: bit i is set if element i is kept.
  constexpr std::uint8_t kept(const base::Words4& words_of_block) const {
    std::uint8_t bits = 0;
    for (std::int64_t i = 0; i < dropout_block; ++i) {
      bits = static_cast<std::uint8_t>(bits | (is_dropped(words_of_block, i) ? 0 : 1 << i));
    }
    return bits;
  }
};

/// The keep mask of a rule, computed once for kernels that read elements several times: bit i % 8 of byte i /
/// 8 is set if element i is kept and multiplied by `scale`.
struct KeptElements {
  const std::uint8_t* bits = nullptr;  ///< null: no dropout
  float scale = 1;
};

/// Returns the size in bytes of a keep mask of `count` elements. It is padded, because kernels read a 64-bit
/// word from any byte of the mask.
constexpr std::int64_t kept_bytes(std::int64_t count) {
  return (count + dropout_block - 1) / dropout_block + static_cast<std::int64_t>(sizeof(std::uint64_t));
}

}  // namespace gnomon::kernels
