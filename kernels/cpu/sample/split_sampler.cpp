#include "kernels/cpu/sample/split_sampler.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/cpu/sample/worker_memory.h"
#include "kernels/headroom.h"

namespace gnomon::kernels::cpu {
namespace {

/// A step over fewer edges is faster on the caller alone than with waking the other threads.
constexpr std::int64_t min_parallel_edges = 4096;

/// Reads the codes of the edges that `part` drew, in the order of the edges.
class Codes {
 public:
  explicit Codes(const Part& part) : owners_(part.owners.data()) {
    for (std::size_t p = 0; p < part.messages.size(); ++p) {
      next_[p] = part.messages[p].ids.data();
    }
  }
  struct Code {
    std::size_t owner;
    std::uint32_t number;
    bool is_new;
  };
  Code next() {
    const std::size_t owner = *owners_++;
    const std::uint32_t code = *next_[owner]++;
    return {owner, code / 2, code % 2 == 1};
  }

 private:
  const std::uint8_t* owners_;
  std::array<const std::uint32_t*, max_parts> next_;
};

/// Assigns local ids to the new vertices among the neighbours that `part` drew, in the order of the edges.
void assign_new_ids(std::span<Part> parts, const Part& part, std::uint32_t* vertices,
                    std::int64_t* batch_vertices) {
  auto name = static_cast<std::uint32_t>(part.first_new_local);
  Codes codes(part);
  for (std::size_t e = 0; e < part.drawn; ++e) {
    if (const auto code = codes.next(); code.is_new) {
      const std::uint32_t id = parts[code.owner].work.vertices[code.number];
      parts[code.owner].locals[code.number] = name;
      vertices[name] = id;
      batch_vertices[name] = static_cast<std::int64_t>(id);
      ++name;
    }
  }
}

/// Writes the local ids of the neighbours that `part` drew. Precondition: all vertices have local ids.
void write_locals(std::span<const Part> parts, const Part& part, std::int32_t* out) {
  Codes codes(part);
  for (std::size_t e = 0; e < part.drawn; ++e) {
    const auto code = codes.next();
    out[e] = static_cast<std::int32_t>(parts[code.owner].locals[code.number]);
  }
}

/// Returns the position of the first repeated seed.
std::size_t first_known(const Part& part) {
  Codes codes(part);
  std::size_t e = 0;
  while (e < part.drawn && codes.next().is_new) {
    ++e;
  }
  return e;
}

}  // namespace

std::size_t Part::bytes() const {
  std::size_t total = work.bytes() + locals.bytes() + owners.bytes() + edges.bytes();
  for (const IdMessage& each : messages) {
    total += each.ids.bytes();
  }
  return total;
}

void clear_messages(Part& part, std::size_t parts) {
  part.messages.resize(parts);
  for (IdMessage& message : part.messages) {
    message.size = 0;
  }
  part.drawn = 0;
}

void send_ids(std::span<const std::int64_t> ids, Part& part) {
  const auto parts = static_cast<std::uint32_t>(part.messages.size());
  for (IdMessage& message : part.messages) {
    message.ids.ensure_capacity(ids.size() + slot_prefetch_distance, 0);
  }
  part.owners.ensure_capacity(ids.size(), 0);
  for (const std::int64_t seed : ids) {
    const auto id = static_cast<std::uint32_t>(seed);
    const std::uint32_t owner = owner_of(id, parts);
    part.owners[part.drawn++] = static_cast<std::uint8_t>(owner);
    IdMessage& message = part.messages[owner];
    message.ids[message.size++] = id;
  }
}

SplitSampler::SplitSampler(Topology topology, std::vector<int> fanouts, bool edge_ids, base::Team& team,
                           const SamplingRule& rule)
    : topology_(std::move(topology)),
      fanouts_(std::move(fanouts)),
      edge_ids_(edge_ids),
      rule_(rule),
      team_(team),
      parts_(static_cast<std::size_t>(team.size())) {}

/// Runs work(part) for all parts: on all threads, or on the caller alone if the step handles few edges.
template <class Work>
void SplitSampler::step(std::int64_t edges, Work work) {
  if (edges >= min_parallel_edges) {
    team_.step([&](int member) { work(static_cast<std::size_t>(member)); });
    return;
  }
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    work(part);
  }
}

std::size_t SplitSampler::sample(const BatchKey& key, std::span<const graph::VertexId> seeds,
                                 MiniBatch& batch) {
  const std::size_t room_before = batch.vertices.capacity();
  if (const std::size_t added = add_seeds(seeds, batch); added < seeds.size()) {
    return added;
  }
  batch.blocks.resize(fanouts_.size());
  Block* before = nullptr;  // its local ids are written while the next hop is drawn, which saves a step
  const auto finish = [&](std::size_t part) {
    if (before != nullptr) {
      write_locals(parts_, parts_[part], before->indices.data() + parts_[part].first);
    }
  };
  std::int64_t edges = 0;
  std::int64_t first = 0;
  for (std::size_t h = 0; h < fanouts_.size(); ++h) {
    Block& block = batch.blocks[h];
    const HopRequest hop{&topology_,  key,       rule_.first_hop + static_cast<std::uint32_t>(h),
                         fanouts_[h], edge_ids_, first};
    const std::int64_t destinations = size_ - first;
    begin_block(destinations, block);
    const std::int64_t estimate = fanouts_[h] < 0 ? min_parallel_edges : destinations * fanouts_[h];
    step(std::max(edges, estimate), [&](std::size_t p) {
      finish(p);
      const auto [begin, end] = base::chunk_of(destinations, static_cast<int>(p), team_.size());
      parts_[p].destinations = {first + begin, first + end};
      draw_part(hop, vertices_.array(), parts_[p], block.indptr.data() + 1);
    });
    place_parts(block);
    edges = block.num_edges();
    step(edges, [&](std::size_t p) { number_part(parts_, p); });
    first = rule_.expansion == Expansion::once ? size_ : 0;
    assign_local_ids(batch, &block);
    before = &block;
  }
  step(edges, finish);
  end_batch(batch, room_before);
  return seeds.size();
}

/// Ends a batch: reserves headroom in the buffers that this batch made grow.
void SplitSampler::end_batch(MiniBatch& batch, std::size_t room_before) {
  for (Part& part : parts_) {
    part.work.peak_vertices =
        std::max(part.work.peak_vertices, std::min(min_capacity, part.work.max_vertices));
    cpu::end_batch(part.work);
    part.locals.reserve(part.work.vertices.capacity(), 0);
    part.owners.end_batch();
    part.edges.end_batch();
    for (IdMessage& message : part.messages) {
      message.ids.end_batch();
    }
  }
  vertices_.end_batch();
  if (batch.vertices.capacity() > room_before) {
    batch.vertices.reserve(with_headroom(batch.vertices.size()));
  }
}

std::size_t SplitSampler::add_seeds(std::span<const graph::VertexId> seeds, MiniBatch& batch) {
  const auto max = static_cast<std::size_t>(
      max_vertices(limits_of(topology_), static_cast<std::int64_t>(seeds.size()), fanouts_) +
      max_edges_in_flight(fanouts_));
  step(size_, [&](std::size_t p) {
    Part& part = parts_[p];
    clear_table(part.work.table, std::min(part.work.size + part.work.size / 16,
                                          static_cast<std::int64_t>(part.work.capacity)));
    part.work.size = 0;
    part.work.max_vertices = max;
    clear_messages(part, parts_.size());
    part.destinations = {};
  });
  send_ids(seeds, parts_.front());
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    number_part(parts_, p);
  }
  size_ = 0;
  if (const std::size_t known = first_known(parts_.front()); known < seeds.size()) {
    return known;
  }
  batch.num_seeds = static_cast<std::int64_t>(seeds.size());
  batch.vertices.clear();
  assign_local_ids(batch, nullptr);
  return seeds.size();
}

/// Computes the begin of each part's edges in the block, and sizes the block for all of them.
void SplitSampler::place_parts(Block& block) {
  std::size_t edges = 0;
  for (Part& part : parts_) {
    part.first = edges;
    edges += part.drawn;
  }
  resize_with_headroom(block.indices, edges);
  resize_with_headroom(block.edge_ids, edge_ids_ ? edges : 0);
}

/// Assigns local ids to the new vertices. In a block, also turns the row ends, which the parts counted from
/// their own first edges, into offsets from the block's first edge.
void SplitSampler::assign_local_ids(MiniBatch& batch, Block* block) {
  auto num_vertices = static_cast<std::size_t>(size_);
  std::size_t edges = 0;
  for (Part& part : parts_) {
    part.first_new_local = num_vertices;
    edges += part.drawn;
    for (const IdMessage& message : part.messages) {
      num_vertices += message.added;
    }
  }
  check_batch_size(num_vertices);
  vertices_.ensure_capacity(num_vertices, static_cast<std::size_t>(size_));
  resize_with_headroom(batch.vertices, num_vertices);
  step(static_cast<std::int64_t>(edges), [&](std::size_t p) {
    Part& part = parts_[p];
    assign_new_ids(parts_, part, vertices_.data(), batch.vertices.data());
    if (block != nullptr) {
      const std::int64_t expanded_before = size_ - block->num_destinations;
      const auto [begin, end] = part.destinations;
      for (std::int64_t v = begin; v < end; ++v) {
        block->indptr[static_cast<std::size_t>(v - expanded_before) + 1] +=
            static_cast<std::int64_t>(part.first);
      }
      std::copy_n(part.edges.data(), block->edge_ids.empty() ? 0 : part.drawn,
                  block->edge_ids.data() + part.first);
    }
  });
  size_ = static_cast<std::int64_t>(num_vertices);
  if (block != nullptr) {
    block->num_sources = size_;
  }
}

std::int64_t SplitSampler::bytes() const {
  std::size_t total = vertices_.bytes();
  for (const Part& part : parts_) {
    total += part.bytes();
  }
  return static_cast<std::int64_t>(total);
}

}  // namespace gnomon::kernels::cpu
