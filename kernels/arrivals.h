#pragma once

#include <cstdint>

#include "base/philox.h"
#include "kernels/sampling_rule.h"

// Draws by weight as a race: A-ES (Efraimidis and Spirakis, Information Processing Letters 97(5), 2006).
// Neighbour i with u uniform in (0, 1) has the key log(u) / weight, and the largest keys are drawn, the
// largest first: each draw is then proportional to the weights of what is left. Seen from the other side,
// -log(u) / weight is the time at which a neighbour arrives, and the first ones are taken. All is integers
// but for one conversion and one division, so that every machine finds the same times. Also compiled by nvcc
// as C++17.

namespace gnomon::kernels {

/// When an edge arrives in the race of its list; of equal times the lower position comes first.
struct Arrival {
  double time = 0;
  std::int64_t position = 0;  ///< in the list
  friend constexpr bool operator<(const Arrival& a, const Arrival& b) {
    return a.time < b.time || (a.time == b.time && a.position < b.position);
  }
};

/// The 64 random bits of an edge (its position in the graph's indices, below 2^41) in a hop of a batch. Two
/// edges beside each other share a block of random words.
constexpr std::uint64_t edge_bits(const BatchKey& key, std::uint32_t hop, std::int64_t edge) {
  const base::StreamKey stream{
      key.seed, base::Purpose::arrivals, key.epoch, key.batch, hop, static_cast<std::uint64_t>(edge / 2)};
  const base::Words4 words = base::random_words(stream, 0);
  const int first = edge % 2 == 0 ? 0 : 2;
  return (std::uint64_t{words.word[first]} << 32) | words.word[first + 1];
}

namespace detail {

__extension__ using Wide = unsigned __int128;

/// The high half of a product: of two fractions of 2^64, their product.
constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>((Wide{a} * b) >> 64);
}

/// -ln(1 - t/2^64) for t up to 2^63, in units of 2^-64: 2 artanh(z) with z = t / (2 - t) at most 1/3, by its
/// series, of which z^29 / 29 is too little to count.
constexpr std::uint64_t minus_log1m(std::uint64_t t) {
  const auto z = static_cast<std::uint64_t>((Wide{t} << 64) / ((Wide{1} << 65) - t));
  const std::uint64_t square = times(z, z);
  constexpr std::uint64_t one = ~std::uint64_t{0};
  std::uint64_t series = 0;
  for (std::uint64_t n = 27; n >= 3; n -= 2) {
    series = one / n + times(square, series);
  }
  return 2 * (z + times(z, times(square, series)));
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
constexpr Arrival arrival(std::uint64_t bits, float weight, std::int64_t position) {
  return {static_cast<double>(exponential(bits)) / static_cast<double>(weight), position};
}

/// Whether the edge arrives after `time` without doubt; tells of most that do.
constexpr bool is_late(std::uint64_t bits, float weight, double time) {
  return static_cast<double>(least_exponential(bits)) / static_cast<double>(weight) > time;
}

}  // namespace gnomon::kernels
