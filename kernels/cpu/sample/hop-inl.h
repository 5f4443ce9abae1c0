// One hop of a mini-batch, for one instruction set; included by hop.cpp only. bench/README.md says why it is
// made as it is.
#if defined(GNOMON_KERNELS_CPU_HOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GNOMON_KERNELS_CPU_HOP_INL_H_
#undef GNOMON_KERNELS_CPU_HOP_INL_H_
#else
#define GNOMON_KERNELS_CPU_HOP_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include "base/index_range.h"
#include "hwy/highway.h"
#include "kernels/cpu/prefetch.h"
#include "kernels/cpu/sample/draws-inl.h"
#include "kernels/cpu/sample/hop.h"
#include "kernels/cpu/sample/table-inl.h"
#include "kernels/cpu/sample/weighted_draws-inl.h"
#include "kernels/slack.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu {
namespace HWY_NAMESPACE {

constexpr std::int64_t group_vertices = static_cast<std::int64_t>(hn::MaxLanes(LaneTag()));

/// Draws the edges of a hop's destinations, or of some of them, chunk after chunk. Counts from the first of
/// them where each one's edges end.
class Drawing {
 public:
  /// `vertices` may be moved between calls, `ends` (of the block's indptr) may not.
  Drawing(const Hop& hop, Workspace& work, const HugeArray<std::uint32_t>& vertices,
          base::IndexRange destinations, std::int64_t* ends)
      : hop_(hop),
        work_(work),
        vertices_(vertices),
        ends_(ends),
        indptr_(hop.topology->indptr.data()),
        next_(destinations.begin),
        destinations_(destinations.end) {
    const auto fanout = static_cast<std::int64_t>(std::max(hop.fanout, 1));
    per_chunk_ = vertices_a_chunk(fanout, group_vertices);
    most_edges_ = static_cast<std::size_t>(std::max((per_chunk_ + 1) * fanout, chunk_edges));
    work.firsts.reserve(chunk_vertices, 0);
    work.degrees.reserve(chunk_vertices, 0);
    work.lane_ids.reserve(chunk_vertices, 0);
    work.lane_degrees.reserve(chunk_vertices, 0);
    work.positions.reserve(static_cast<std::size_t>(fanout * group_vertices), 0);
    if (is_weighted()) {
      at_once_ = attempts_at_once(fanout);
      work.columns.reserve(static_cast<std::size_t>(at_once_ * per_chunk_), 0);
      work.parts.reserve(static_cast<std::size_t>(at_once_ * per_chunk_), 0);
    }
    prefetch_rows(next_);
  }

  bool done() const { return next_ == destinations_; }
  /// The most that draw() appends, or writes behind what it appends.
  std::size_t most_edges() const { return most_edges_; }

  /// Appends the next chunk's edges; returns how many.
  HWY_ATTR std::size_t draw(std::uint64_t* edges) {
    if (hop_.fanout < 0) {
      return take_all(edges);
    }
    return is_weighted() ? draw_weighted(edges) : draw_some(edges);
  }

 private:
  bool is_weighted() const { return hop_.topology->draws_by_weight(); }
  bool has_zeros() const { return !hop_.topology->positives.empty(); }

  HWY_INLINE void prefetch_rows(std::int64_t from) const {
    for (std::int64_t v = from; v < std::min(from + per_chunk_, destinations_); ++v) {
      prefetch_far(indptr_ + vertices_[static_cast<std::size_t>(v)]);
    }
    for (std::int64_t v = from; has_zeros() && v < std::min(from + per_chunk_, destinations_); ++v) {
      prefetch_far(hop_.topology->positives.data() + vertices_[static_cast<std::size_t>(v)]);
    }
  }

  HWY_ATTR std::size_t draw_some(std::uint64_t* edges) {
    const std::int64_t count = std::min(per_chunk_, destinations_ - next_);
    read_rows(count);
    prefetch_rows(next_ + count);
    const std::uint64_t* begin = edges;
    for (std::int64_t v = 0; v < count; v += group_vertices) {
      draw_group({hop_.key.seed, base::Purpose::neighbours, hop_.key.epoch, hop_.key.batch, hop_.number, 0},
                 static_cast<std::uint32_t>(hop_.fanout),
                 {work_.lane_ids.data() + v, work_.lane_degrees.data() + v, work_.positions.data()});
      edges = write_group(v, std::min(group_vertices, count - v), edges);
    }
    next_ += count;
    return static_cast<std::size_t>(edges - begin);
  }

  // A vertex of more than 2^16 neighbours takes all in the lanes, and then draws by itself.
  HWY_INLINE void read_rows(std::int64_t count) {
    for (std::int64_t v = 0; v < count; ++v) {
      const auto i = static_cast<std::size_t>(v);
      const std::uint32_t id = vertices_[static_cast<std::size_t>(next_ + v)];
      const std::int64_t first = indptr_[id];
      const std::int64_t degree = indptr_[id + std::size_t{1}] - first;
      work_.lane_ids[i] = id;
      work_.firsts[i] = first;
      work_.degrees[i] = degree;
      work_.lane_degrees[i] = degree > most_in_lanes ? 0 : static_cast<std::uint32_t>(degree);
    }
  }

  // Always writes as many edges as the fanout and moves on by as many as there are: no branch that depends on
  // the graph.
  HWY_INLINE std::uint64_t* write_group(std::int64_t from, std::int64_t count, std::uint64_t* edges) {
    const int fanout = hop_.fanout;
    for (std::int64_t lane = 0; lane < count; ++lane) {
      const auto v = static_cast<std::size_t>(from + lane);
      const auto first = static_cast<std::uint64_t>(work_.firsts[v]);
      const std::int64_t degree = work_.degrees[v];
      const std::uint32_t* position = work_.positions.data() + lane;
      for (int i = 0; i < fanout; ++i) {
        edges[i] = first + *position;
        position += group_vertices;
      }
      if (HWY_UNLIKELY(degree > most_in_lanes)) {
        draw_many(v, edges);
      }
      const std::int64_t taken = std::min<std::int64_t>(degree, fanout);
      edges += taken;
      drawn_ += taken;
      ends_[next_ + from + lane] = drawn_;
    }
    return edges;
  }

  HWY_NOINLINE void draw_many(std::size_t v, std::uint64_t* edges) const {
    static_assert(sizeof(std::uint64_t) == sizeof(std::int64_t));
    auto* positions = reinterpret_cast<std::int64_t*>(edges);
    draw_positions(hop_.key, hop_.number, work_.lane_ids[v], work_.degrees[v], hop_.fanout, positions);
    for (int i = 0; i < hop_.fanout; ++i) {
      positions[i] += work_.firsts[v];
    }
  }

  HWY_ATTR std::size_t draw_weighted(std::uint64_t* edges) {
    const std::int64_t count = std::min(per_chunk_, destinations_ - next_);
    read_rows(count);
    prefetch_rows(next_ + count);
    attempt_group(0, count);
    std::uint64_t* end = edges;
    for (std::int64_t group = 0; group < count; group += group_vertices) {
      attempt_group(group + group_vertices, count);
      for (std::int64_t v = group; v < std::min(group + group_vertices, count); ++v) {
        end = write_weighted(v, end);
        ends_[next_ + v] = drawn_ + (end - edges);
      }
    }
    drawn_ += end - edges;
    next_ += count;
    return static_cast<std::size_t>(end - edges);
  }

  // Makes the attempts of the chunk's vertices from `group` on, if there are any.
  HWY_INLINE void attempt_group(std::int64_t group, std::int64_t count) {
    if (group >= count) {
      return;
    }
    make_attempts({hop_.key.seed, base::Purpose::alias_draws, hop_.key.epoch, hop_.key.batch, hop_.number, 0},
                  at_once_,
                  {work_.lane_ids.data() + group, work_.lane_degrees.data() + group,
                   work_.columns.data() + group * at_once_, work_.parts.data() + group * at_once_});
    for (std::int64_t lane = 0; lane < std::min(group_vertices, count - group); ++lane) {
      prefetch_columns(group, lane);
    }
  }

  // Of a vertex without draws all attempts take the first column.
  HWY_INLINE void prefetch_columns(std::int64_t group, std::int64_t lane) const {
    const auto v = static_cast<std::size_t>(group + lane);
    const AliasColumn* table = hop_.topology->columns.data() + work_.firsts[v];
    const std::uint32_t* column = work_.columns.data() + group * at_once_ + lane;
    for (std::int64_t i = 0; i < (work_.degrees[v] > hop_.fanout ? hop_.fanout : 1); ++i) {
      prefetch_far(table + column[i * group_vertices]);
    }
  }

  HWY_INLINE std::uint64_t* write_weighted(std::int64_t v, std::uint64_t* edges) const {
    const auto i = static_cast<std::size_t>(v);
    const std::int64_t first = work_.firsts[i];
    const std::int64_t degree = work_.degrees[i];
    if (takes_all(degree, hop_.fanout)) {
      return has_zeros() ? take_positive(hop_.topology->columns.data(), first, first + degree, edges)
                         : take_range(first, first + degree, edges);
    }
    const graph::VertexId vertex = work_.lane_ids[i];
    const auto count = static_cast<int>(drawn_by_weight(hop_.topology->num_positive(vertex), hop_.fanout));
    const std::int64_t at = v / group_vertices * group_vertices * at_once_ + v % group_vertices;
    const std::int64_t made = degree > most_in_lanes ? 0 : at_once_;
    draw_weighted_edges(hop_, work_.lane_ids[i], hop_.topology->weighted_list(vertex),
                        work_.columns.data() + at, work_.parts.data() + at,
                        static_cast<int>(std::min<std::int64_t>(made, most_attempts(count, degree))), count,
                        edges);
    return edges + count;
  }

  // All neighbours: up to chunk_edges of them, from where the last call stopped.
  std::size_t take_all(std::uint64_t* edges) {
    const AliasColumn* columns = has_zeros() ? hop_.topology->columns.data() : nullptr;
    std::uint64_t* end = edges;
    while (next_ < destinations_ && end - edges < chunk_edges) {
      const std::uint32_t id = vertices_[static_cast<std::size_t>(next_)];
      const std::int64_t first = indptr_[id] + within_;
      const std::int64_t left = indptr_[id + std::size_t{1}] - first;
      const std::int64_t taken = std::min(left, chunk_edges - (end - edges));
      std::uint64_t* const before = end;
      end = columns == nullptr ? take_range(first, first + taken, end)
                               : take_positive(columns, first, first + taken, end);
      drawn_ += end - before;
      within_ = taken == left ? 0 : within_ + taken;
      if (taken == left) {
        ends_[next_++] = drawn_;
        prefetch_row(next_ + 32);
      }
    }
    return static_cast<std::size_t>(end - edges);
  }

  HWY_INLINE static std::uint64_t* take_range(std::int64_t first, std::int64_t end, std::uint64_t* edges) {
    for (std::int64_t edge = first; edge < end; ++edge) {
      *edges++ = static_cast<std::uint64_t>(edge);
    }
    return edges;
  }

  HWY_INLINE void prefetch_row(std::int64_t v) const {
    if (v < destinations_) {
      prefetch_far(indptr_ + vertices_[static_cast<std::size_t>(v)]);
    }
  }

  static constexpr std::int64_t most_in_lanes = most_narrow_degree;

  const Hop& hop_;
  Workspace& work_;
  const HugeArray<std::uint32_t>& vertices_;
  std::int64_t* ends_;
  const std::int64_t* indptr_;
  std::int64_t next_;  ///< destination
  std::int64_t destinations_;
  std::int64_t per_chunk_ = 0;
  std::int64_t at_once_ = 0;  ///< attempts to draw by weight
  std::size_t most_edges_ = 0;
  std::int64_t within_ = 0;  ///< how many of its neighbours were taken already (all neighbours only)
  std::int64_t drawn_ = 0;
};

template <class T>
void move_to_front(HugeArray<T>& array, std::size_t from, std::size_t count) {
  std::memmove(array.data(), array.data() + from, count * sizeof(T));
}

/// Drawn edges that wait for their neighbours to be read. Each is known far_ahead edges before its turn, so
/// that memory can be asked for it.
class Waiting {
 public:
  Waiting(Workspace& work, std::size_t most_drawn) : edges_(work.edges) {
    edges_.reserve(most_drawn + 3 * far_ahead, 0);
  }

  /// Draws until more than far_ahead edges wait, or the last is drawn; returns how many are to be read now.
  HWY_ATTR std::size_t fill(Drawing& drawing) {
    while (!drawing.done() && held_ <= far_ahead) {
      held_ += drawing.draw(edges_.data() + held_);
    }
    if (!drawing.done()) {
      return held_ - far_ahead;
    }
    std::fill_n(edges_.data() + held_, far_ahead, held_ > 0 ? edges_[0] : 0);
    return held_;
  }
  std::size_t held() const { return held_; }
  const std::uint64_t* edges() const { return edges_.data(); }
  /// The first `count` have been read.
  void drop(std::size_t count) {
    held_ -= count;
    move_to_front(edges_, count, far_ahead);
  }

 private:
  HugeArray<std::uint64_t>& edges_;
  std::size_t held_ = 0;
};

/// Takes drawn edges through three steps, each some edges behind the one before: ask memory for the
/// neighbour; read it and ask for its slot; number it. Every step finds in the cache what the one before
/// asked for, and memory always has requests to work on.
template <class Index>
class Pipeline {
 public:
  Pipeline(const Index* indices, Workspace& work, std::size_t most_drawn) : indices_(indices), work_(work) {
    const std::size_t capacity = most_drawn + 3 * far_ahead;
    work.ids.reserve(capacity, 0);
    work.homes.reserve(capacity, 0);
  }

  /// Numbers the first `count` > 0 of the edges that wait; writes their local ids to `out`.
  HWY_ATTR void run(const Waiting& waiting, std::size_t count, std::int32_t* out) {
    const bool moved = make_room(work_, count);
    Numbering table = numbering_of(work_);
    if (!started_) {
      start(waiting.edges(), table);
    } else if (moved) {
      std::transform(work_.ids.data(), work_.ids.data() + near_ahead, work_.homes.data(),
                     [&](std::uint32_t id) { return table.home_of(id); });
    }
    number(waiting.edges(), count, table, out);
    move_to_front(work_.ids, count, near_ahead);
    move_to_front(work_.homes, count, near_ahead);
  }

 private:
  HWY_INLINE static void read(std::uint64_t edge, const Index* indices, const Numbering& table,
                              std::uint32_t* id, std::uint32_t* home) {
    *id = static_cast<std::uint32_t>(indices[edge]);
    *home = table.home_of(*id);
    table.prefetch(*home);
  }

  HWY_ATTR void start(const std::uint64_t* edges, const Numbering& table) {
    for (std::size_t e = 0; e < far_ahead; ++e) {
      prefetch_far(indices_ + edges[e]);
    }
    for (std::size_t e = 0; e < near_ahead; ++e) {
      read(edges[e], indices_, table, &work_.ids[e], &work_.homes[e]);
    }
    started_ = true;
  }

  HWY_ATTR void number(const std::uint64_t* edges, std::size_t count, Numbering table, std::int32_t* out) {
    const Index* indices = indices_;
    std::uint32_t* ids = work_.ids.data();
    std::uint32_t* homes = work_.homes.data();
    for (std::size_t e = 0; e < count; ++e) {
      prefetch_far(indices + edges[e + far_ahead]);
      read(edges[e + near_ahead], indices, table, ids + e + near_ahead, homes + e + near_ahead);
      out[e] = static_cast<std::int32_t>(table.find_or_add(ids[e], homes[e]));
    }
    work_.size = static_cast<std::int64_t>(table.size);
  }

  const Index* indices_;
  Workspace& work_;
  bool started_ = false;
};

template <class Index>
HWY_ATTR void sample_hop_of(const Hop& hop, const Index* indices, Workspace& work, Block& block) {
  begin_block(work.size, block);
  Drawing drawing(hop, work, work.vertices, {0, work.size}, block.indptr.data() + 1);
  Waiting waiting(work, drawing.most_edges());
  Pipeline<Index> pipeline(indices, work, drawing.most_edges());
  const std::size_t room_before = block.indices.capacity();
  const std::size_t edge_room_before = block.edge_ids.capacity();
  std::size_t numbered = 0;
  while (const std::size_t count = waiting.fill(drawing)) {
    if (block.indices.size() < numbered + waiting.held()) {
      resize_with_slack(block.indices, numbered + waiting.held());
    }
    pipeline.run(waiting, count, block.indices.data() + numbered);
    if (hop.edge_ids) {
      kernels::make_room(block.edge_ids, numbered + waiting.held());
      block.edge_ids.resize(numbered);
      block.edge_ids.insert(block.edge_ids.end(), waiting.edges(), waiting.edges() + count);
    }
    waiting.drop(count);
    numbered += count;
  }
  block.indices.resize(numbered);
  block.edge_ids.resize(hop.edge_ids ? numbered : 0);
  if (block.indices.capacity() > room_before) {
    block.indices.reserve(with_slack(numbered));
  }
  if (block.edge_ids.capacity() > edge_room_before) {
    block.edge_ids.reserve(with_slack(numbered));
  }
  block.num_sources = work.size;
}

/// Calls `work` with the topology's indices, narrow or wide.
template <class Work>
HWY_INLINE void with_indices(const Topology& topology, Work work) {
  if (topology.narrow_indices.data() != nullptr) {
    work(topology.narrow_indices.data());
  } else {
    work(topology.indices.data());
  }
}

inline void sample_hop_with(const Hop& hop, Workspace& work, Block& block) {
  with_indices(*hop.topology, [&](const auto* indices) { sample_hop_of(hop, indices, work, block); });
}

inline HWY_ATTR std::size_t add_seeds_with(const std::int64_t* seeds, std::size_t count, Workspace& work) {
  make_room(work, count);
  Numbering table = numbering_of(work);
  std::size_t added = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto id = static_cast<std::uint32_t>(seeds[i]);
    if (table.find_or_add(id, table.home_of(id)) != i) {
      break;
    }
    ++added;
  }
  work.size = static_cast<std::int64_t>(table.size);
  return added;
}

}  // namespace HWY_NAMESPACE
}  // namespace gnomon::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif
