#pragma once

#include <array>
#include <cstdint>

// This header is also compiled by nvcc (as C++17, with --expt-relaxed-constexpr): CPU and GPU call the same
// constexpr functions and therefore draw the same numbers.

namespace gnomon::base {

/// Four 32-bit words: a Philox counter or its output.
struct Words4 {
  std::uint32_t word[4];
};

/// Philox4x32 (Salmon, Moraes, Dror, Shaw, SC'11, §3.3): a keyed bijection of the 128-bit counter. Seven
/// rounds are the fewest that pass BigCrush (their Table 2); ten are the usual safety margin.
template <int Rounds = 7>
constexpr Words4 philox4x32(Words4 counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < Rounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53U} * counter.word[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57U} * counter.word[2];
    counter = Words4{{static_cast<std::uint32_t>(product1 >> 32) ^ counter.word[1] ^ key0,
                      static_cast<std::uint32_t>(product1),
                      static_cast<std::uint32_t>(product0 >> 32) ^ counter.word[3] ^ key1,
                      static_cast<std::uint32_t>(product0)}};
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return counter;
}

/// The use of a random stream. Streams of different purposes have different keys and are independent.
enum class Purpose : std::uint8_t {
  neighbours = 0,
  shuffle = 1,
  split = 2,
  generate = 3,
  dropout = 4,
  initialise = 5,
  simulate = 6,
  test = 7,
  route = 8,
  alias_draws = 9,
  reservoir_keys = 10
};

/// Identifies one random stream, which is a pure function of these numbers: it does not depend on the thread,
/// the device or the order of use. Limits: epoch and batch below 2^32, item below 2^40, level below 256.
struct StreamKey {
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::neighbours;
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;
  std::uint32_t level = 0;  ///< the hop or layer
  std::uint64_t item = 0;   ///< the vertex
};

/// The Philox counter of words 4·block … 4·block+3 of the stream, for block below 2^13. Only word 0 and the
/// low byte of word 1 depend on the item.
constexpr Words4 stream_counter(const StreamKey& key, std::uint32_t block) {
  return Words4{
      {static_cast<std::uint32_t>(key.item),
       static_cast<std::uint32_t>((key.item >> 32) & 0xFFU) | (key.level << 8) | ((block & 0xFFFFU) << 16),
       static_cast<std::uint32_t>(key.batch), static_cast<std::uint32_t>(key.epoch)}};
}

/// The Philox key, which all items of a stream share.
struct CipherKey {
  std::uint32_t word0;
  std::uint32_t word1;
};
constexpr CipherKey stream_cipher(const StreamKey& key) {
  const auto purpose = static_cast<std::uint32_t>(key.purpose);
  return CipherKey{static_cast<std::uint32_t>(key.seed) ^ (purpose * 0x85EBCA6BU),
                   static_cast<std::uint32_t>(key.seed >> 32) ^ (purpose * 0xC2B2AE35U)};
}

/// Returns words 4·block … 4·block+3 of the stream, for block below 2^13.
constexpr Words4 random_words(const StreamKey& key, std::uint32_t block) {
  const CipherKey cipher = stream_cipher(key);
  return philox4x32<7>(stream_counter(key, block), cipher.word0, cipher.word1);
}

/// Maps 32 random bits to an integer in [0, bound), for bound up to 2^16: the probabilities of two values
/// differ by at most a factor of 1 + 2^-16 (multiply-shift, without rejection).
constexpr std::uint32_t below32(std::uint32_t word, std::uint32_t bound) {
  return static_cast<std::uint32_t>((std::uint64_t{word} * bound) >> 32);
}

/// Maps 64 random bits to an integer in [0, bound), for bound up to 2^40 (relative bias below 2^-24).
constexpr std::uint64_t below64(std::uint32_t high, std::uint32_t low, std::uint64_t bound) {
  // The high half of a 64x64-bit product, computed from 32-bit halves because not every compiler has 128-bit
  // integers.
  const std::uint64_t bound_high = bound >> 32;
  const std::uint64_t bound_low = bound & 0xFFFFFFFFU;
  const std::uint64_t low_product = low * bound_low;
  const std::uint64_t middle = high * bound_low + (low_product >> 32);
  const std::uint64_t middle2 = low * bound_high + (middle & 0xFFFFFFFFU);
  return high * bound_high + (middle >> 32) + (middle2 >> 32);
}

/// Reads a stream sequentially, for shuffles and generators. The position in the stream replaces the key's
/// item, which is ignored, so that a stream may be long. Satisfies UniformRandomBitGenerator (64 bits).
class RandomStream {
 public:
  using result_type = std::uint64_t;
  explicit RandomStream(const StreamKey& key) : key_(key) {}
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }
  result_type operator()() {
    if (next_ == 2) {
      refill();
    }
    return buffer_[next_++];
  }
  /// Returns an integer uniform in [0, bound), for bound up to 2^40.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t word = (*this)();
    return below64(static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word), bound);
  }
  /// Returns a number uniform in [0, 1), with 53 random bits.
  double uniform() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

 private:
  void refill() {
    StreamKey key = key_;
    key.item = position_++;
    const Words4 words = random_words(key, 0);
    buffer_[0] = (std::uint64_t{words.word[0]} << 32) | words.word[1];
    buffer_[1] = (std::uint64_t{words.word[2]} << 32) | words.word[3];
    next_ = 0;
  }
  StreamKey key_;
  std::uint64_t position_ = 0;
  std::array<std::uint64_t, 2> buffer_{};
  int next_ = 2;
};

}  // namespace gnomon::base
