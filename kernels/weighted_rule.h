#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "base/philox.h"
#include "kernels/sampling_rule.h"

// The one definition of which neighbours are drawn by weight: A-ES (Efraimidis and Spirakis, Information
// Processing Letters 97(5), 2006). Neighbour i with u uniform in (0, 1) has the key log(u) / weight, and the
// fanout largest keys are drawn, the largest first: each draw is then proportional to the weights of what is
// left. Seen from the other side, -log(u) / weight is the time at which a neighbour arrives, and the first
// ones are taken. All is integers but for one conversion and one division, so that every machine and
// instruction set finds the same times.

namespace gnomon::kernels {

/// When an edge arrives in the race of its list; of equal times the lower position comes first.
struct Arrival {
  double time = 0;
  std::int64_t edge = 0;  ///< position in the graph's indices
  friend bool operator<(const Arrival& a, const Arrival& b) {
    return std::tie(a.time, a.edge) < std::tie(b.time, b.edge);
  }
};

/// The block of random words in which an edge (below 2^41) finds its own: sixteen edges beside each other
/// have sixteen blocks beside each other, of which they read the first two words, and the next sixteen edges
/// the last two.
constexpr std::int64_t block_of_edge(std::int64_t edge) { return edge / 32 * 16 + edge % 16; }

/// The stream of a hop; its item is the block.
constexpr base::StreamKey edge_stream(const BatchKey& key, std::uint32_t hop, std::int64_t block) {
  return {key.seed, base::Purpose::weights, key.epoch, key.batch, hop, static_cast<std::uint64_t>(block)};
}

/// The 64 random bits of an edge in a hop of a batch.
constexpr std::uint64_t edge_bits(const BatchKey& key, std::uint32_t hop, std::int64_t edge) {
  const base::Words4 words = base::random_words(edge_stream(key, hop, block_of_edge(edge)), 0);
  const int first = edge / 16 % 2 == 0 ? 0 : 2;
  return (std::uint64_t{words.word[first]} << 32) | words.word[first + 1];
}

namespace detail {

__extension__ using Wide = unsigned __int128;

/// The high half of a product: of two fractions of 2^64, their product.
constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>((Wide{a} * b) >> 64);
}

/// For i/256, i = 0 … 128.
struct LogTable {
  std::array<std::uint64_t, 129> minus_log{};   ///< -ln(1 - i/256), in units of 2^-64
  std::array<std::uint64_t, 129> reciprocal{};  ///< 1 / (1 - i/256), in units of 2^-62
};

constexpr LogTable make_log_table() {
  LogTable table;
  table.reciprocal[0] = std::uint64_t{1} << 62;
  for (std::size_t i = 1; i < table.minus_log.size(); ++i) {
    // ln((a + 1) / a) = 2 artanh(1 / (2a + 1)), by its series.
    const std::uint64_t q = 2 * (256 - i) + 1;
    std::uint64_t step = 0;
    Wide power = (Wide{1} << 65) / q;
    for (std::uint64_t n = 1; power > 0; n += 2) {
      step += static_cast<std::uint64_t>(power / n);
      power /= q * q;
    }
    table.minus_log[i] = table.minus_log[i - 1] + step;
    table.reciprocal[i] = (std::uint64_t{1} << 62) / (256 - i) * 256;
  }
  return table;
}

inline constexpr LogTable log_table = make_log_table();

/// -ln(1 - t/2^64) for t up to 2^63, in units of 2^-64: with i = t's first eight bits, 1 - t = (1 - i)(1 -
/// z).
constexpr std::uint64_t minus_log1m(std::uint64_t t) {
  const auto i = static_cast<std::size_t>(t >> 56);
  const std::uint64_t rest = t & ((std::uint64_t{1} << 56) - 1);
  const auto z = static_cast<std::uint64_t>((Wide{rest} * log_table.reciprocal[i]) >> 62);
  constexpr std::uint64_t one = ~std::uint64_t{0};
  std::uint64_t series = one / 4 + times(z, one / 5);
  series = one / 3 + times(z, series);
  series = one / 2 + times(z, series);
  return log_table.minus_log[i] + z + times(z, times(z, series));
}

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
  constexpr std::uint64_t log_2 = detail::log_table.minus_log[128] >> 7;
  return static_cast<std::int64_t>(halvings * log_2 + (detail::minus_log1m(t) >> 7));
}

/// When an edge of a positive weight arrives.
constexpr Arrival arrival(std::uint64_t bits, float weight, std::int64_t edge) {
  return {static_cast<double>(exponential(bits)) / static_cast<double>(weight), edge};
}

}  // namespace gnomon::kernels
