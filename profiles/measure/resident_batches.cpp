#include "profiles/measure/resident_batches.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/index.h"
#include "base/philox.h"
#include "graph/epoch_order.h"
#include "graph/partition/macro_batches.h"
#include "graph/partition/parts.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/statistics.h"

namespace gnomon::profiles {
namespace {

using base::at;
using graph::VertexId;

/// A share of a graph's vertices.
class Residents {
 public:
  Residents(const graph::Graph& graph, std::uint64_t seed, double share)
      : parts_(graph.parts ? &*graph.parts : nullptr), seed_(seed), share_(share) {
    if (parts_ == nullptr) {
      return;
    }
    const auto count = static_cast<int>(parts_->count());
    const int resident = std::clamp(static_cast<int>(std::lround(share * count)), 1, count);
    has_part_.resize(at(count), false);
    std::int64_t vertices = 0;
    const auto groups = graph::macro_batches(count, resident, seed, 0);
    for (const auto part : groups.front()) {
      has_part_[at(part)] = true;
      vertices += parts_->vertices_of(part);
    }
    share_ = static_cast<double>(vertices) / static_cast<double>(graph.num_vertices());
  }

  bool contains(VertexId vertex) const {
    if (parts_ != nullptr) {
      return has_part_[at(parts_->part_of(vertex))];
    }
    const auto word =
        base::random_words(
            {.seed = seed_, .purpose = base::Purpose::simulate, .item = static_cast<std::uint64_t>(vertex)},
            0)
            .word[0];
    return static_cast<double>(word) < share_ * 0x1p32;
  }
  double share() const { return share_; }

 private:
  const graph::Parts* parts_;
  std::uint64_t seed_;
  double share_;
  std::vector<bool> has_part_;
};

struct Totals {
  double entries = 0, resident_entries = 0;  ///< looked at, in the lists of drawn vertices
  double edges = 0, vertices = 0;
};

/// Draws mini-batches, of all vertices or of residents, and adds up their sizes.
class Drawer {
 public:
  Drawer(const graph::Graph& graph, const plan::Job& job, const Residents* residents)
      : graph_(graph),
        job_(job),
        residents_(residents),
        random_({.seed = job.seed, .purpose = base::Purpose::simulate, .level = 255}) {}

  void draw(std::span<const VertexId> seeds) {
    std::vector<VertexId> vertices(seeds.begin(), seeds.end());
    std::unordered_set<VertexId> known(seeds.begin(), seeds.end());
    for (const int fanout : job_.fanouts) {
      const std::size_t destinations = vertices.size();
      for (std::size_t i = 0; i < destinations; ++i) {
        draw_neighbours(vertices[i], fanout);
        totals_.edges += static_cast<double>(drawn_.size());
        std::copy_if(drawn_.begin(), drawn_.end(), std::back_inserter(vertices),
                     [&](VertexId vertex) { return known.insert(vertex).second; });
      }
    }
    totals_.vertices += static_cast<double>(vertices.size());
  }

  const Totals& totals() const { return totals_; }

 private:
  /// Sets drawn_ to at most `fanout` (-1: all) of a vertex's resident neighbours. Of a long list only some
  /// entries are looked at.
  void draw_neighbours(VertexId vertex, int fanout) {
    constexpr std::int64_t max_looks = 1024;
    const auto first = graph_.indptr[at(vertex)];
    const auto degree = graph_.degree(vertex);
    drawn_.clear();
    if (fanout < 0 || degree <= max_looks) {
      for (std::int64_t i = 0; i < degree; ++i) {
        look_at(first + i);
      }
      keep(fanout);
      return;
    }
    for (std::int64_t look = 0; look < max_looks && std::ssize(drawn_) < fanout; ++look) {
      look_at(first + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(degree))));
    }
  }

  void look_at(std::int64_t entry) {
    const VertexId neighbour = graph_.indices[at(entry)];
    const bool resident = residents_ == nullptr || residents_->contains(neighbour);
    totals_.entries += 1;
    totals_.resident_entries += resident ? 1 : 0;
    if (resident) {
      drawn_.push_back(neighbour);
    }
  }

  /// Reduces drawn_ to a random choice.
  void keep(int fanout) {
    if (fanout < 0 || std::ssize(drawn_) <= fanout) {
      return;
    }
    for (std::size_t i = 0; i < at(fanout); ++i) {
      std::swap(drawn_[i], drawn_[i + random_.below(drawn_.size() - i)]);
    }
    drawn_.resize(at(fanout));
  }

  const graph::Graph& graph_;
  const plan::Job& job_;
  const Residents* residents_;
  base::RandomStream random_;
  std::vector<VertexId> drawn_;
  Totals totals_;
};

/// count_resident() for the training vertices in this order.
std::optional<ResidentBatch> count_in_order(const graph::Graph& graph, const plan::Job& job,
                                            std::span<const VertexId> all, double share,
                                            std::int64_t batches) {
  const Residents residents(graph, job.seed, share);
  std::vector<VertexId> within;
  std::copy_if(all.begin(), all.end(), std::back_inserter(within),
               [&](VertexId vertex) { return residents.contains(vertex); });
  Drawer among_residents(graph, job, &residents);
  Drawer among_all(graph, job, nullptr);
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    const auto begin = std::min(std::ssize(within), batch * job.batch_size);
    const auto count = std::min<std::int64_t>(job.batch_size, std::ssize(within) - begin);
    among_residents.draw(std::span(within).subspan(at(begin), at(count)));
    among_all.draw(all.subspan(at(begin), at(count)));
  }
  const Totals& some = among_residents.totals();
  const Totals& whole = among_all.totals();
  if (whole.edges <= 0 || some.entries <= 0) {
    return std::nullopt;
  }
  return ResidentBatch{residents.share(), some.resident_entries / some.entries, some.edges / whole.edges,
                       some.vertices / whole.vertices};
}

}  // namespace

std::optional<ResidentBatch> count_resident(const graph::Graph& graph, const plan::Job& job, double share,
                                            std::int64_t batches) {
  return count_in_order(graph, job, graph::epoch_order(graph.train, job.seed, 0), share, batches);
}

std::vector<ResidentBatch> count_resident(const graph::Graph& graph, const plan::Job& job,
                                          const AccessOptions& options) {
  constexpr double shares[] = {0.25, 1.0 / 16, 0.5, 1.0 / 64, 0.125, 1.0 / 32, 0.75};
  constexpr std::int64_t batches = 2;
  std::vector<ResidentBatch> counts;
  if (job.weighted) {
    return counts;
  }
  const auto order = graph::epoch_order(graph.train, job.seed, 0);
  const Stopwatch watch;
  for (const double share : shares) {
    throw_if_stopped(options.stop);
    if (share != shares[0] && watch.seconds() >= options.time_limit_s) {
      break;
    }
    if (const auto count = count_in_order(graph, job, order, share, batches)) {
      counts.push_back(*count);
    }
  }
  const auto by_share = [](const ResidentBatch& a, const ResidentBatch& b) {
    return a.resident < b.resident;
  };
  std::stable_sort(counts.begin(), counts.end(), by_share);
  const auto same = [](const ResidentBatch& a, const ResidentBatch& b) { return a.resident == b.resident; };
  counts.erase(std::unique(counts.begin(), counts.end(), same), counts.end());  // of few parts
  return counts;
}

}  // namespace gnomon::profiles
