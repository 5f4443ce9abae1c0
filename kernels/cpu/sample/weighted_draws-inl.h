// Weighted draws (kernels/weighted_rule.h) for a chunk of vertices, for one instruction set; included by
// edge_drawer-inl.h only. The first attempts of all vertices are made, one vertex per lane, and their
// alias-table columns are prefetched before any attempt is evaluated.
#if defined(GNOMON_KERNELS_CPU_WEIGHTED_DRAWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GNOMON_KERNELS_CPU_WEIGHTED_DRAWS_INL_H_
#undef GNOMON_KERNELS_CPU_WEIGHTED_DRAWS_INL_H_
#else
#define GNOMON_KERNELS_CPU_WEIGHTED_DRAWS_INL_H_
#endif

#include <array>

#include "kernels/cpu/philox-inl.h"
#include "kernels/cpu/prefetch.h"
#include "kernels/cpu/sample/hop.h"
#include "kernels/weighted_rule.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu {
namespace HWY_NAMESPACE {

/// A group of one vertex per lane and its first attempts: attempt i of lane v is at i * lanes + v.
struct AttemptGroup {
  const std::uint32_t* ids;
  const std::uint32_t* degrees;  ///< at most 2^16
  std::uint32_t* columns;
  std::uint32_t* parts;
};

/// Makes the first `attempts` (even) attempts of each vertex.
inline HWY_ATTR void make_attempts(const base::StreamKey& stream, std::int64_t attempts,
                                   const AttemptGroup& group) {
  const LaneTag d;
  constexpr std::size_t lanes = hn::MaxLanes(d);
  const auto ids = hn::Load(d, group.ids);
  const auto degree = hn::Load(d, group.degrees);
  std::uint32_t* column = group.columns;
  std::uint32_t* part = group.parts;
  for (std::int64_t i = 0; i < attempts; i += 2) {
    const base::Words4 counter = base::stream_counter(stream, static_cast<std::uint32_t>(i / 2));
    const LaneWords words =
        philox({ids, hn::Set(d, counter.word[1]), hn::Set(d, counter.word[2]), hn::Set(d, counter.word[3])},
               base::stream_cipher(stream));
    hn::Store(multiply(words.word0, degree).high, d, column);
    hn::Store(words.word1, d, part);
    hn::Store(multiply(words.word2, degree).high, d, column + lanes);
    hn::Store(words.word3, d, part + lanes);
    column += 2 * lanes;
    part += 2 * lanes;
  }
}

/// Evaluates a vertex's attempts until `count` positions are drawn. Returns the number of positions drawn.
HWY_INLINE int use_attempts(const AliasColumn* table, const std::uint32_t* columns,
                            const std::uint32_t* parts, int attempts, int count, std::int64_t* positions) {
  constexpr std::size_t lanes = hn::MaxLanes(LaneTag());
  std::uint64_t seen = 0;  // a Bloom filter of the positions modulo 64, which avoids most searches
  int drawn = 0;
  for (int i = 0; i < attempts && drawn < count; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * lanes;
    const std::int64_t position = position_in(table[columns[at]], columns[at], parts[at]);
    const std::uint64_t bit = std::uint64_t{1} << (position & 63);
    if ((seen & bit) == 0 || !contains(positions, drawn, position)) {
      positions[drawn++] = position;
      seen |= bit;
    }
  }
  return drawn;
}

/// Draws `count` edges of the list to `edges`, given the list's first `attempts` attempts.
HWY_INLINE void draw_weighted_edges(const HopRequest& hop, std::uint32_t vertex, const WeightedList& list,
                                    const std::uint32_t* columns, const std::uint32_t* parts, int attempts,
                                    int count, std::uint64_t* edges) {
  static_assert(sizeof(std::uint64_t) == sizeof(std::int64_t));
  auto* positions = reinterpret_cast<std::int64_t*>(edges);
  const int drawn = use_attempts(list.columns, columns, parts, attempts, count, positions);
  if (HWY_UNLIKELY(drawn < count)) {
    std::array<double, max_fanout> keys;
    finish_draws(hop.key, hop.number, vertex, list, attempts, drawn, count, positions, keys.data());
  }
  for (int i = 0; i < count; ++i) {
    positions[i] += list.first_edge;
  }
}

/// Appends the edges of positive weight, branchlessly: writes every edge and advances past the positive ones
/// only.
HWY_INLINE std::uint64_t* take_positive(const AliasColumn* columns, std::int64_t first, std::int64_t end,
                                        std::uint64_t* edges) {
  for (std::int64_t edge = first; edge < end; ++edge) {
    *edges = static_cast<std::uint64_t>(edge);
    edges += columns[edge].threshold > 0 ? 1 : 0;
  }
  return edges;
}

}  // namespace HWY_NAMESPACE
}  // namespace gnomon::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif
