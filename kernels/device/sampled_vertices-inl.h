#pragma once

#include <cstdint>

#include "kernels/device/rows.h"
#include "kernels/device/sampler.h"

// The bodies of the sampler that insert vertices into the hash table, give them local ids and write the
// batch. Also compiled by nvcc as C++17.

namespace gnomon::kernels::device::passes {

inline constexpr std::int64_t no_key = -1;
/// Values from `pending` on denote an edge of the current hop: the first at which a new vertex appears.
/// Smaller values are local ids.
inline constexpr std::uint32_t pending = 0x80000000U;
inline constexpr std::uint32_t no_value = 0xFFFFFFFFU;

constexpr std::uint64_t home_of(const IdTable& table, std::int64_t vertex) {
  const std::uint64_t mixed = static_cast<std::uint64_t>(vertex) * 0x9E3779B97F4A7C15U;
  return (mixed ^ (mixed >> 32)) & table.mask;
}

/// Returns the slot of a vertex; inserts the vertex if it is not in the table.
template <class Atomics>
constexpr std::uint32_t slot_of(const IdTable& table, std::int64_t vertex) {
  std::uint64_t slot = home_of(table, vertex);
  while (true) {
    std::int64_t* key = &table.slots[slot].key;
    std::int64_t seen = Atomics::load(key);
    if (seen == no_key) {
      seen = Atomics::compare_exchange(key, no_key, vertex);
    }
    if (seen == no_key || seen == vertex) {
      return static_cast<std::uint32_t>(slot);
    }
    slot = (slot + 1) & table.mask;
  }
}

/// Lowers a slot's value. Mostly it is already low enough, and a load is cheaper than an atomic operation.
template <class Atomics>
constexpr void lower_value(const IdTable& table, std::uint32_t slot, std::uint32_t value) {
  std::uint32_t* at = &table.slots[slot].value;
  if (Atomics::load(at) > value) {
    Atomics::min(at, value);
  }
}

struct ClearSlots {
  IdTable table;
  const std::uint32_t* slots;
  constexpr void operator()(std::int64_t i) const { table.slots[slots[i]] = {no_key, no_value, no_value}; }
};

/// Inserts the seeds of a batch into an empty table, and writes the sizes that the passes begin with.
template <class Atomics>
struct InsertSeeds {
  IdTable table;
  const std::int64_t* seeds;
  std::int64_t count;
  std::uint32_t* slots;
  std::int64_t* known;
  std::int64_t* first_repeated;
  constexpr void operator()(std::int64_t i) const {
    if (i == 0) {
      *known = *first_repeated = count;
    }
    if (i < count) {
      const std::uint32_t slot = slot_of<Atomics>(table, seeds[i]);
      lower_value<Atomics>(table, slot, static_cast<std::uint32_t>(i));
      slots[i] = slot;
    }
  }
};

/// Inserts the vertices of a batch into a table that contains none of them.
template <class Atomics>
struct InsertVertices {
  IdTable table;
  const std::int64_t* vertices;
  const std::int64_t* known;
  std::uint32_t* slots;
  constexpr void operator()(std::int64_t i) const {
    if (i < *known) {
      const std::uint32_t slot = slot_of<Atomics>(table, vertices[i]);
      lower_value<Atomics>(table, slot, static_cast<std::uint32_t>(i));
      slots[i] = slot;
    }
  }
};

/// Replaces the slots of a hop's edges by the local ids of their sources, before the table moves, and back.
struct SlotsToLocalIds {
  IdTable table;
  const std::int64_t* edges;
  std::uint32_t* edge_slots;
  constexpr void operator()(std::int64_t edge) const {
    if (edge < *edges) {
      edge_slots[edge] = table.slots[edge_slots[edge]].value;
    }
  }
};
struct LocalIdsToSlots {
  const std::uint32_t* slots;
  const std::int64_t* edges;
  std::uint32_t* edge_slots;
  constexpr void operator()(std::int64_t edge) const {
    if (edge < *edges) {
      edge_slots[edge] = slots[edge_slots[edge]];
    }
  }
};

template <class T>
struct Copy {
  const T* from;
  T* to;
  const std::int64_t* count;
  constexpr void operator()(std::int64_t i) const {
    if (i < *count) {
      to[i] = from[i];
    }
  }
};

/// Reads each edge's neighbour, inserts it into the table, and records the first edge at which a new vertex
/// appears. If `positions` is null, all neighbours are taken.
template <class Atomics>
struct InsertNeighbours {
  IdTable table;
  const List* lists;
  const std::int64_t* known;
  const std::int64_t* indptr;
  const std::int64_t* positions;
  const std::int32_t* owners;
  std::uint32_t* edge_slots;
  constexpr void operator()(std::int64_t edge) const {
    if (edge >= indptr[*known]) {
      return;
    }
    const std::int64_t owner = positions == nullptr ? row_of(indptr, *known, edge) : owners[edge];
    const std::int64_t position = positions == nullptr ? edge - indptr[owner] : positions[edge];
    const std::uint32_t slot = slot_of<Atomics>(table, lists[owner][position]);
    lower_value<Atomics>(table, slot, pending + static_cast<std::uint32_t>(edge));
    edge_slots[edge] = slot;
  }
};

/// Whether an edge is the first at which its new vertex appears. Edges whose vertices have got their ids
/// meanwhile are not.
template <class Atomics>
constexpr bool is_first(const IdTable& table, const std::uint32_t* edge_slots, std::int64_t edge) {
  return Atomics::load(&table.slots[edge_slots[edge]].value) == pending + static_cast<std::uint32_t>(edge);
}

/// 1 for the edges at which a new vertex appears first; their prefix sums number the new vertices.
template <class Atomics>
struct CountNew {
  IdTable table;
  const std::int64_t* known;
  const std::int64_t* indptr;
  const std::uint32_t* edge_slots;
  constexpr std::uint32_t operator()(std::int64_t edge) const {
    return edge < indptr[*known] && is_first<Atomics>(table, edge_slots, edge) ? 1 : 0;
  }
};

/// Appends the new vertices to the batch, each at the edge at which it appears first, and gives them their
/// local ids in the table. Index `edges` gets the number of new vertices and writes the hop's sizes.
template <class Atomics>
struct AppendNew {
  IdTable table;
  const std::int64_t* known;
  const std::int64_t* indptr;
  const std::uint32_t* edge_slots;
  std::int64_t edges;
  std::int64_t* vertices;
  std::uint32_t* slots;
  std::int64_t* known_after;
  std::int64_t* edges_of_hop;
  constexpr void operator()(std::int64_t edge, std::uint32_t rank) const {
    const std::int64_t local = *known + rank;
    if (edge == edges) {
      *known_after = local;
      *edges_of_hop = indptr[*known];
    } else if (edge < indptr[*known] && is_first<Atomics>(table, edge_slots, edge)) {
      const std::uint32_t slot = edge_slots[edge];
      vertices[local] = table.slots[slot].key;
      slots[local] = slot;
      Atomics::min(&table.slots[slot].value, static_cast<std::uint32_t>(local));
    }
  }
};

/// Writes a batch to its arrays: the local ids of all edges' sources (from the table), the vertices, and the
/// labels of the seeds. Index i is vertex i, and edge i of the concatenated capacities of some hops; indices
/// beyond the actual sizes are skipped.
struct WriteBatch {
  static constexpr int max_hops = 16;
  struct Hop {
    const std::uint32_t* edge_slots;
    std::int32_t* indices;
    const std::int64_t* num_edges;
    std::int64_t end;  ///< of the hop's capacity
  };

  IdTable table;
  const std::int64_t* vertices;
  const std::int64_t* num_vertices;
  std::int64_t room;  ///< for vertices
  std::int64_t* vertices_out;
  const std::int32_t* labels;  ///< null: not asked for
  std::int64_t num_seeds;
  std::int64_t* labels_out;
  int num_hops;
  Hop hops[max_hops];

  constexpr void operator()(std::int64_t i) const {
    if (i < room && i < *num_vertices) {
      vertices_out[i] = vertices[i];
    }
    if (i < num_seeds && labels != nullptr) {
      labels_out[i] = labels[vertices[i]];
    }
    std::int64_t begin = 0;
    for (int hop = 0; hop < num_hops; ++hop) {
      if (i < hops[hop].end) {
        write_edge(hops[hop], i - begin);
        return;
      }
      begin = hops[hop].end;
    }
  }

 private:
  constexpr void write_edge(const Hop& hop, std::int64_t edge) const {
    if (edge < *hop.num_edges) {
      hop.indices[edge] = static_cast<std::int32_t>(table.slots[hop.edge_slots[edge]].value);
    }
  }
};

}  // namespace gnomon::kernels::device::passes
