#pragma once

#include <cstdint>

#include "base/philox.h"

// Also compiled by nvcc as C++17: this header is the one definition of which elements are dropped.

namespace gnomon::kernels {

/// Elements that one block of random words decides on.
inline constexpr std::int64_t dropout_block = 8;

/// Which elements are dropped is a pure function of the stream's name (whose item is not used) and the
/// element's number: its 16 bits of the stream lie below the threshold.
struct DropoutRule {
  base::StreamKey key;
  std::uint32_t threshold = 0;  ///< the chance in 65,536ths, below 65,536
  constexpr float scale() const { return 65536.0F / static_cast<float>(65536U - threshold); }

  /// The words for elements block · dropout_block … of the stream.
  constexpr base::Words4 words(std::int64_t block) const {
    base::StreamKey stream = key;
    stream.item = static_cast<std::uint64_t>(block);
    return base::random_words(stream, 0);
  }
  /// Whether their words drop the i-th element of a block.
  constexpr bool is_dropped(const base::Words4& words_of_block, std::int64_t i) const {
    return ((words_of_block.word[i / 2] >> (16 * (i % 2))) & 0xFFFFU) < threshold;
  }
  /// A block's elements as bits, set where they are kept.
  constexpr std::uint8_t kept(const base::Words4& words_of_block) const {
    std::uint8_t bits = 0;
    for (std::int64_t i = 0; i < dropout_block; ++i) {
      bits = static_cast<std::uint8_t>(bits | (is_dropped(words_of_block, i) ? 0 : 1 << i));
    }
    return bits;
  }
};

/// Which elements a rule leaves, found once for those that read elements more than once: bit i % 8 of byte
/// i / 8 is set where element i is kept, and then multiplied by the rule's scale.
struct KeptElements {
  const std::uint8_t* bits = nullptr;  ///< null: all, as they are
  float scale = 1;
};

/// Bytes for the bits of `count` elements: who reads them may read a word from any byte that holds one.
constexpr std::int64_t kept_bytes(std::int64_t count) {
  return (count + dropout_block - 1) / dropout_block + static_cast<std::int64_t>(sizeof(std::uint64_t));
}

}  // namespace gnomon::kernels
