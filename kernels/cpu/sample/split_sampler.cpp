#include "kernels/cpu/sample/split_sampler.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/cpu/sample/worker_memory.h"
#include "kernels/slack.h"

namespace gnomon::kernels::cpu {
namespace {

/// A step over fewer edges is sooner done by the caller alone than by waking the others.
constexpr std::int64_t least_edges = 4096;

/// Reads the codes of the edges that `part` drew, in the order of the edges.
class Codes {
 public:
  explicit Codes(const Part& part) : owners_(part.owners.data()) {
    for (std::size_t p = 0; p < part.dealt.size(); ++p) {
      next_[p] = part.dealt[p].ids.data();
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
  std::array<const std::uint32_t*, most_parts> next_;
};

/// Gives the new vertices among the edges that `part` drew their local ids, in the order of the edges.
void name_new_of(std::span<Part> parts, const Part& part, std::uint32_t* vertices,
                 std::int64_t* batch_vertices) {
  auto name = static_cast<std::uint32_t>(part.names);
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

/// Writes the local ids of the edges that `part` drew, once all vertices have theirs.
void write_locals(std::span<const Part> parts, const Part& part, std::int32_t* out) {
  Codes codes(part);
  for (std::size_t e = 0; e < part.drawn; ++e) {
    const auto code = codes.next();
    out[e] = static_cast<std::int32_t>(parts[code.owner].locals[code.number]);
  }
}

/// The position of the first seed that is not new.
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
  for (const Dealt& each : dealt) {
    total += each.ids.bytes();
  }
  return total;
}

void begin_dealing(Part& part, std::size_t parts) {
  part.dealt.resize(parts);
  for (Dealt& dealt : part.dealt) {
    dealt.size = 0;
  }
  part.drawn = 0;
}

void deal(std::span<const std::int64_t> ids, Part& part) {
  const auto parts = static_cast<std::uint32_t>(part.dealt.size());
  for (Dealt& dealt : part.dealt) {
    dealt.ids.make_room(ids.size() + near_ahead, 0);
  }
  part.owners.make_room(ids.size(), 0);
  for (const std::int64_t seed : ids) {
    const auto id = static_cast<std::uint32_t>(seed);
    const std::uint32_t owner = owner_of(id, parts);
    part.owners[part.drawn++] = static_cast<std::uint8_t>(owner);
    Dealt& dealt = part.dealt[owner];
    dealt.ids[dealt.size++] = id;
  }
}

SplitSampler::SplitSampler(Topology topology, std::vector<int> fanouts, bool edge_ids, base::Team& team)
    : topology_(std::move(topology)),
      fanouts_(std::move(fanouts)),
      edge_ids_(edge_ids),
      team_(team),
      parts_(static_cast<std::size_t>(team.size())) {}

/// A step that deals with so many edges: by all, or one part after the other by the caller.
template <class Work>
void SplitSampler::step(std::int64_t edges, Work work) {
  if (edges >= least_edges) {
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
  Block* before = nullptr;  // its local ids are written when the next hop is drawn: one step less
  const auto finish = [&](std::size_t part) {
    if (before != nullptr) {
      write_locals(parts_, parts_[part], before->indices.data() + parts_[part].first);
    }
  };
  std::int64_t edges = 0;
  for (std::size_t h = 0; h < fanouts_.size(); ++h) {
    Block& block = batch.blocks[h];
    const Hop hop{&topology_, key, static_cast<std::uint32_t>(h), fanouts_[h], edge_ids_};
    begin_block(size_, block);
    const std::int64_t about = fanouts_[h] < 0 ? least_edges : size_ * fanouts_[h];
    step(std::max(edges, about), [&](std::size_t p) {
      finish(p);
      parts_[p].destinations = base::chunk_of(size_, static_cast<int>(p), team_.size());
      draw_part(hop, vertices_.array(), parts_[p], block.indptr.data() + 1);
    });
    place_parts(block);
    edges = block.num_edges();
    step(edges, [&](std::size_t p) { number_part(parts_, p); });
    name_new(batch, &block);
    before = &block;
  }
  step(edges, finish);
  settle_all(batch, room_before);
  return seeds.size();
}

/// Leaves slack, for the batches that come, where this one made something grow.
void SplitSampler::settle_all(MiniBatch& batch, std::size_t room_before) {
  for (Part& part : parts_) {
    part.work.needed = std::max(part.work.needed, std::min(least_room, part.work.most));
    settle(part.work);
    part.locals.reserve(part.work.vertices.capacity(), 0);
    part.owners.settle();
    part.edges.settle();
    for (Dealt& dealt : part.dealt) {
      dealt.ids.settle();
    }
  }
  vertices_.settle();
  if (batch.vertices.capacity() > room_before) {
    batch.vertices.reserve(with_slack(batch.vertices.size()));
  }
}

std::size_t SplitSampler::add_seeds(std::span<const graph::VertexId> seeds, MiniBatch& batch) {
  const auto most = static_cast<std::size_t>(
      most_vertices(limits_of(topology_), static_cast<std::int64_t>(seeds.size()), fanouts_) +
      most_edges_under_way(fanouts_));
  step(size_, [&](std::size_t p) {
    Part& part = parts_[p];
    clear_table(part.work.table,
                std::min(part.work.size + part.work.size / 16, static_cast<std::int64_t>(part.work.room)));
    part.work.size = 0;
    part.work.most = most;
    begin_dealing(part, parts_.size());
    part.destinations = {};
  });
  deal(seeds, parts_.front());
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    number_part(parts_, p);
  }
  size_ = 0;
  if (const std::size_t known = first_known(parts_.front()); known < seeds.size()) {
    return known;
  }
  batch.num_seeds = static_cast<std::int64_t>(seeds.size());
  batch.vertices.clear();
  name_new(batch, nullptr);
  return seeds.size();
}

/// Says where in the block each part's edges begin, and makes room for all.
void SplitSampler::place_parts(Block& block) {
  std::size_t edges = 0;
  for (Part& part : parts_) {
    part.first = edges;
    edges += part.drawn;
  }
  resize_with_slack(block.indices, edges);
  resize_with_slack(block.edge_ids, edge_ids_ ? edges : 0);
}

/// Gives the vertices that are new their local ids; of a block, what the parts counted from their own first
/// edges on is counted from the block's.
void SplitSampler::name_new(MiniBatch& batch, Block* block) {
  auto names = static_cast<std::size_t>(size_);
  std::size_t edges = 0;
  for (Part& part : parts_) {
    part.names = names;
    edges += part.drawn;
    for (const Dealt& dealt : part.dealt) {
      names += dealt.added;
    }
  }
  check_batch_size(names);
  vertices_.make_room(names, static_cast<std::size_t>(size_));
  resize_with_slack(batch.vertices, names);
  step(static_cast<std::int64_t>(edges), [&](std::size_t p) {
    Part& part = parts_[p];
    name_new_of(parts_, part, vertices_.data(), batch.vertices.data());
    if (block != nullptr) {
      const auto [begin, end] = part.destinations;
      for (std::int64_t v = begin; v < end; ++v) {
        block->indptr[static_cast<std::size_t>(v) + 1] += static_cast<std::int64_t>(part.first);
      }
      std::copy_n(part.edges.data(), block->edge_ids.empty() ? 0 : part.drawn,
                  block->edge_ids.data() + part.first);
    }
  });
  size_ = static_cast<std::int64_t>(names);
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
