#pragma once

#include <cstdint>

#include "base/philox.h"
#include "kernels/sampling_rule.h"

// The keys of weighted reservoir sampling without replacement, A-ES (Efraimidis and Spirakis, Information
// Processing Letters 97(5), 2006), in the form of exponential variates: neighbour i has the key
// -log(u) / weight with u uniform in (0, 1), and the smallest keys are drawn, in ascending order; of equal
// keys, the one of the lower position. Each draw is then proportional to the remaining weights. The
// computation uses integers except for one conversion and one division, whose results IEEE 754 defines
// exactly, so that every machine computes the same keys. Also compiled by nvcc as C++17.

namespace gnomon::kernels {

/// Returns the random words of an edge (its position in the graph's indices, below 2^41) in a hop of a batch.
/// An even edge shares them with the next one.
constexpr base::Words4 edge_words(const BatchKey& key, std::uint32_t hop, std::int64_t edge) {
  const base::StreamKey stream{key.seed, base::Purpose::reservoir_keys,       key.epoch, key.batch,
                               hop,      static_cast<std::uint64_t>(edge / 2)};
  return base::random_words(stream, 0);
}

/// Returns the 64 random bits of an edge from its words.
constexpr std::uint64_t edge_bits(const base::Words4& words, std::int64_t edge) {
  const bool is_even = edge % 2 == 0;
  const std::uint64_t high = is_even ? words.word[0] : words.word[2];
  return (high << 32) | (is_even ? words.word[1] : words.word[3]);
}
constexpr std::uint64_t edge_bits(const BatchKey& key, std::uint32_t hop, std::int64_t edge) {
  return edge_bits(edge_words(key, hop, edge), edge);
}

namespace detail {

__extension__ using Wide = unsigned __int128;

/// Returns the high half of the product, that is, the product of two fractions of 2^64.
constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>((Wide{a} * b) >> 64);
}

/// Returns the series of artanh from the term with divisor `n` on, without its first term, given the square
/// of the argument, which is at most 1/3. Terms beyond 27 are negligible.
template <std::uint64_t n = 3>
constexpr std::uint64_t artanh_terms(std::uint64_t square) {
  constexpr std::uint64_t one = ~std::uint64_t{0};
  if constexpr (n < 27) {
    return one / n + times(square, artanh_terms<n + 2>(square));
  } else {
    return one / n;
  }
}

/// Returns -ln(1 - t/2^64) for t up to 2^63, in units of 2^-64, as 2 artanh(z) with z = t / (2 - t).
constexpr std::uint64_t minus_log1m(std::uint64_t t) {
  const auto z = static_cast<std::uint64_t>((Wide{t} << 63) / ~(t / 2));
  const std::uint64_t square = times(z, z);
  return 2 * (z + times(z, times(square, artanh_terms(square))));
}

inline constexpr std::uint64_t log_2 = minus_log1m(std::uint64_t{1} << 63) >> 7;  ///< in units of 2^-57

}  // namespace detail

/// Returns -ln(1 - bits/2^64) in units of 2^-57, accurate to 40 bits: an exponential variate if the bits are
/// uniform.
constexpr std::int64_t exponential(std::uint64_t bits) {
  std::uint64_t halvings = 0;
  std::uint64_t t = bits;
  if (bits > std::uint64_t{1} << 63) {
    std::uint64_t left = ~bits + 1;  // 2^64 - bits
    while (left < std::uint64_t{1} << 63) {
      left *= 2;
      ++halvings;
    }
    t = ~left + 1;
  }
  return static_cast<std::int64_t>(halvings * detail::log_2 + (detail::minus_log1m(t) >> 7));
}

/// Returns a lower bound of exponential(bits) without a logarithm: -ln(1 - x) >= x.
constexpr std::int64_t exponential_lower_bound(std::uint64_t bits) {
  constexpr std::int64_t rounding = std::int64_t{1} << 16;
  return static_cast<std::int64_t>(bits >> 7) - rounding;
}

/// Returns the key of an edge of positive weight.
constexpr double reservoir_key(std::uint64_t bits, float weight) {
  return static_cast<double>(exponential(bits)) / static_cast<double>(weight);
}

/// Whether the edge's key certainly exceeds `key`, in spite of rounding. A cheap, conservative test.
constexpr bool certainly_exceeds(std::uint64_t bits, float weight, double key) {
  return static_cast<double>(exponential_lower_bound(bits)) >
         key * static_cast<double>(weight) * (1 + 0x1p-50);
}

}  // namespace gnomon::kernels
