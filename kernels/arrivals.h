#pragma once

#include <cstdint>

#include "base/philox.h"
#include "kernels/sampling_rule.h"

// Draws by weight as a race: A-ES (Efraimidis and Spirakis, Information Processing Letters 97(5), 2006).
// Neighbour i with u uniform in (0, 1) has the key log(u) / weight, and the largest keys are drawn, the
// largest first: each draw is then proportional to the weights of what is left. Seen from the other side,
// -log(u) / weight is the time at which a neighbour arrives, and the first ones are taken, of equal times the
// one of the lower position. All is integers but for a conversion and a division, which IEEE 754 leaves no
// choice in, so that every machine finds the same times.
// Also compiled by nvcc as C++17.

namespace gnomon::kernels {

/// The words of an edge (its position in the graph's indices, below 2^41) in a hop of a batch, which an even
/// edge shares with the next one.
constexpr base::Words4 edge_words(const BatchKey& key, std::uint32_t hop, std::int64_t edge) {
  const base::StreamKey stream{key.seed, base::Purpose::reservoir_keys,       key.epoch, key.batch,
                               hop,      static_cast<std::uint64_t>(edge / 2)};
  return base::random_words(stream, 0);
}

/// The 64 random bits of an edge out of its words.
constexpr std::uint64_t edge_bits(const base::Words4& words, std::int64_t edge) {
  const int first = edge % 2 == 0 ? 0 : 2;
  return (std::uint64_t{words.word[first]} << 32) | words.word[first + 1];
}
constexpr std::uint64_t edge_bits(const BatchKey& key, std::uint32_t hop, std::int64_t edge) {
  return edge_bits(edge_words(key, hop, edge), edge);
}

namespace detail {

__extension__ using Wide = unsigned __int128;

/// The high half of a product: of two fractions of 2^64, their product.
constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>((Wide{a} * b) >> 64);
}

/// artanh's series behind its first term, from the square of its argument up to 1/3, from the term of `n` on;
/// those behind 27 are too little to count.
template <std::uint64_t n = 3>
constexpr std::uint64_t artanh_terms(std::uint64_t square) {
  constexpr std::uint64_t one = ~std::uint64_t{0};
  if constexpr (n < 27) {
    return one / n + times(square, artanh_terms<n + 2>(square));
  } else {
    return one / n;
  }
}

/// -ln(1 - t/2^64) for t up to 2^63, in units of 2^-64: 2 artanh(z) with z = t / (2 - t).
constexpr std::uint64_t minus_log1m(std::uint64_t t) {
  const auto z = static_cast<std::uint64_t>((Wide{t} << 63) / ~(t / 2));
  const std::uint64_t square = times(z, z);
  return 2 * (z + times(z, times(square, artanh_terms(square))));
}

inline constexpr std::uint64_t log_2 = minus_log1m(std::uint64_t{1} << 63) >> 7;  ///< in units of 2^-57

}  // namespace detail

/// -ln(1 - bits/2^64), in units of 2^-57, to 40 bits: exponentially distributed when the bits are uniform.
constexpr std::int64_t exponential(std::uint64_t bits) {
  std::uint64_t halvings = 0;
  std::uint64_t t = bits;
  if (bits > std::uint64_t{1} << 63) {
    std::uint64_t left = ~bits + 1;  // of 2^64
    while (left < std::uint64_t{1} << 63) {
      left *= 2;
      ++halvings;
    }
    t = ~left + 1;
  }
  return static_cast<std::int64_t>(halvings * detail::log_2 + (detail::minus_log1m(t) >> 7));
}

/// No more than exponential(bits), and found without a logarithm: a number's exponential is at least the
/// number.
constexpr std::int64_t least_exponential(std::uint64_t bits) {
  constexpr std::int64_t rounding = std::int64_t{1} << 16;
  return static_cast<std::int64_t>(bits >> 7) - rounding;
}

/// When an edge of a positive weight arrives.
constexpr double arrival_time(std::uint64_t bits, float weight) {
  return static_cast<double>(exponential(bits)) / static_cast<double>(weight);
}

/// Whether the edge arrives after `time` without doubt, whatever is rounded; tells of most that do.
constexpr bool is_late(std::uint64_t bits, float weight, double time) {
  return static_cast<double>(least_exponential(bits)) > time * static_cast<double>(weight) * (1 + 0x1p-50);
}

}  // namespace gnomon::kernels
