// Draws the edges of a hop's destinations, for one instruction set; included by hop-inl.h only.
#if defined(GNOMON_KERNELS_CPU_EDGE_DRAWER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GNOMON_KERNELS_CPU_EDGE_DRAWER_INL_H_
#undef GNOMON_KERNELS_CPU_EDGE_DRAWER_INL_H_
#else
#define GNOMON_KERNELS_CPU_EDGE_DRAWER_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include "base/index_range.h"
#include "hwy/highway.h"
#include "kernels/cpu/sample/draws-inl.h"
#include "kernels/cpu/sample/hop.h"
#include "kernels/cpu/sample/table-inl.h"
#include "kernels/cpu/sample/weighted_draws-inl.h"
#include "kernels/headroom.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu {
namespace HWY_NAMESPACE {

constexpr std::int64_t group_vertices = static_cast<std::int64_t>(hn::MaxLanes(LaneTag()));

/// Draws the edges of a range of a hop's destinations, chunk by chunk. Writes the end of each destination's
/// edges, counted from the first edge of the range, to `ends`.
class EdgeDrawer {
 public:
  /// `vertices` may reallocate between calls; `ends`, which points into the block's indptr behind the entry
  /// of hop.first, must stay valid.
  EdgeDrawer(const HopRequest& hop, Workspace& work, const HugeArray<std::uint32_t>& vertices,
             base::IndexRange destinations, std::int64_t* ends)
      : hop_(hop),
        work_(work),
        vertices_(vertices),
        ends_(ends),
        indptr_(hop.topology->indptr.data()),
        next_(destinations.begin),
        destinations_(destinations.end) {
    const auto fanout = static_cast<std::int64_t>(std::max(hop.fanout, 1));
    per_chunk_ = vertices_per_chunk(fanout, group_vertices);
    max_edges_ = static_cast<std::size_t>(std::max((per_chunk_ + 1) * fanout, chunk_edges));
    work.firsts.reserve(chunk_vertices, 0);
    work.degrees.reserve(chunk_vertices, 0);
    work.lane_ids.reserve(chunk_vertices, 0);
    work.lane_degrees.reserve(chunk_vertices, 0);
    work.positions.reserve(static_cast<std::size_t>(fanout * group_vertices), 0);
    if (is_weighted()) {
      initial_attempts_ = initial_attempts(fanout);
      work.columns.reserve(static_cast<std::size_t>(initial_attempts_ * per_chunk_), 0);
      work.parts.reserve(static_cast<std::size_t>(initial_attempts_ * per_chunk_), 0);
    }
    prefetch_rows(next_);
  }

  bool done() const { return next_ == destinations_; }
  /// Upper bound of the number of elements that draw() writes, the unused ones behind the drawn edges
  /// included.
  std::size_t max_edges() const { return max_edges_; }

  /// Draws the next chunk's edges to `edges` and returns their number.
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

  // The vectors handle a vertex of more than 2^16 neighbours as one of degree 0; draw_many() draws for it.
  HWY_INLINE void read_rows(std::int64_t count) {
    for (std::int64_t v = 0; v < count; ++v) {
      const auto i = static_cast<std::size_t>(v);
      const std::uint32_t id = vertices_[static_cast<std::size_t>(next_ + v)];
      const std::int64_t first = indptr_[id];
      const std::int64_t degree = indptr_[id + std::size_t{1}] - first;
      work_.lane_ids[i] = id;
      work_.firsts[i] = first;
      work_.degrees[i] = degree;
      work_.lane_degrees[i] = degree > max_vector_degree ? 0 : static_cast<std::uint32_t>(degree);
    }
  }

  // Always writes `fanout` edges and advances by the actual number, which avoids a branch that depends on the
  // graph.
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
      if (HWY_UNLIKELY(degree > max_vector_degree)) {
        draw_many(v, edges);
      }
      const std::int64_t taken = std::min<std::int64_t>(degree, fanout);
      edges += taken;
      drawn_ += taken;
      ends_[next_ - hop_.first + from + lane] = drawn_;
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
        ends_[next_ - hop_.first + v] = drawn_ + (end - edges);
      }
    }
    drawn_ += end - edges;
    next_ += count;
    return static_cast<std::size_t>(end - edges);
  }

  // Makes the attempts of the group that begins at vertex `group` of the chunk, unless that is beyond its
  // end.
  HWY_INLINE void attempt_group(std::int64_t group, std::int64_t count) {
    if (group >= count) {
      return;
    }
    make_attempts(
        {hop_.key.seed, base::Purpose::alias_draws, hop_.key.epoch, hop_.key.batch, hop_.number, 0},
        initial_attempts_,
        {work_.lane_ids.data() + group, work_.lane_degrees.data() + group,
         work_.columns.data() + group * initial_attempts_, work_.parts.data() + group * initial_attempts_});
    for (std::int64_t lane = 0; lane < std::min(group_vertices, count - group); ++lane) {
      prefetch_columns(group, lane);
    }
  }

  // A vertex that takes all neighbours has only attempts at column 0.
  HWY_INLINE void prefetch_columns(std::int64_t group, std::int64_t lane) const {
    const auto v = static_cast<std::size_t>(group + lane);
    const AliasColumn* table = hop_.topology->columns.data() + work_.firsts[v];
    const std::uint32_t* column = work_.columns.data() + group * initial_attempts_ + lane;
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
    const std::int64_t at = v / group_vertices * group_vertices * initial_attempts_ + v % group_vertices;
    const std::int64_t made = degree > max_vector_degree ? 0 : initial_attempts_;
    draw_weighted_edges(hop_, work_.lane_ids[i], hop_.topology->weighted_list(vertex),
                        work_.columns.data() + at, work_.parts.data() + at,
                        static_cast<int>(std::min<std::int64_t>(made, max_attempts(count, degree))), count,
                        edges);
    return edges + count;
  }

  // Takes all neighbours: up to chunk_edges of them, continuing where the last call stopped.
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
        ends_[next_++ - hop_.first] = drawn_;
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

  static constexpr std::int64_t max_vector_degree = max_narrow_degree;

  const HopRequest& hop_;
  Workspace& work_;
  const HugeArray<std::uint32_t>& vertices_;
  std::int64_t* ends_;
  const std::int64_t* indptr_;
  std::int64_t next_;  ///< the next destination
  std::int64_t destinations_;
  std::int64_t per_chunk_ = 0;
  std::int64_t initial_attempts_ =
      0;  ///< attempts of a weighted draw that are made for all vertices of a chunk at once
  std::size_t max_edges_ = 0;
  std::int64_t within_ = 0;  ///< neighbours of the next destination already taken (fanout -1 only)
  std::int64_t drawn_ = 0;
};

template <class T>
void move_to_front(HugeArray<T>& array, std::size_t from, std::size_t count) {
  std::memmove(array.data(), array.data() + from, count * sizeof(T));
}

/// A queue of drawn edges whose neighbours have not been read. It always extends neighbour_prefetch_distance
/// edges beyond those that are processed, so that their neighbours can be prefetched.
class EdgeQueue {
 public:
  EdgeQueue(Workspace& work, std::size_t max_drawn) : edges_(work.edges) {
    edges_.reserve(max_drawn + 3 * neighbour_prefetch_distance, 0);
  }

  /// Draws until the queue has more than neighbour_prefetch_distance edges or the last edge is drawn. Returns
  /// the number of edges that can be processed now.
  HWY_ATTR std::size_t fill(EdgeDrawer& drawer) {
    while (!drawer.done() && size_ <= neighbour_prefetch_distance) {
      size_ += drawer.draw(edges_.data() + size_);
    }
    if (!drawer.done()) {
      return size_ - neighbour_prefetch_distance;
    }
    std::fill_n(edges_.data() + size_, neighbour_prefetch_distance, size_ > 0 ? edges_[0] : 0);
    return size_;
  }
  std::size_t size() const { return size_; }
  const std::uint64_t* edges() const { return edges_.data(); }
  /// Removes the first `count` edges.
  void pop(std::size_t count) {
    size_ -= count;
    move_to_front(edges_, count, neighbour_prefetch_distance);
  }

 private:
  HugeArray<std::uint64_t>& edges_;
  std::size_t size_ = 0;
};

}  // namespace HWY_NAMESPACE
}  // namespace gnomon::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif
