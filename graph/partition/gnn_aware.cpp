#include "graph/partition/gnn_aware.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/index.h"
#include "graph/visit_lists.h"

namespace gnomon::graph {
namespace {

using base::at;

constexpr std::int32_t no_part = -1;

/// The classes whose training vertices are spread evenly: of a multi-label graph all are one.
std::int32_t balanced_classes(const Graph& graph) { return graph.is_multilabel() ? 1 : graph.num_classes; }

/// The label of each vertex: its balanced class if it trains, else their number.
std::vector<std::int32_t> labels_of(const Graph& graph) {
  const std::int32_t classes = balanced_classes(graph);
  std::vector<std::int32_t> labels(at(graph.num_vertices()), classes);
  for (const VertexId vertex : graph.train) {
    const std::int32_t label = graph.labels.empty() ? -1 : graph.labels[at(vertex)];
    labels[at(vertex)] = label < 0 ? classes : std::min(label, classes - 1);
  }
  return labels;
}

/// The number of vertices by label and part, with a tournament tree per label that yields the part with the
/// fewest; or the bytes of parts, as those of one label.
class PartCounts {
 public:
  PartCounts(int parts, std::int32_t num_labels)
      : leaves_(std::bit_ceil(at(parts))),
        counts_(leaves_ * at(num_labels), 0),
        winners_(leaves_ * at(num_labels), 0) {
    for (std::int32_t label = 0; label < num_labels; ++label) {
      for (std::size_t leaf = at(parts); leaf < leaves_; ++leaf) {
        counts_[first_of(label) + leaf] = std::numeric_limits<std::int64_t>::max();
      }
      for (std::size_t node = leaves_ - 1; node > 0; --node) {
        play(label, node);
      }
    }
  }

  void add(std::int32_t label, std::int32_t part, std::int64_t change) {
    counts_[first_of(label) + at(part)] += change;
    for (std::size_t node = (leaves_ + at(part)) / 2; node > 0; node /= 2) {
      play(label, node);
    }
  }
  std::int64_t of(std::int32_t label, std::int32_t part) const { return counts_[first_of(label) + at(part)]; }
  /// The part with the fewest vertices of the label; ties go to the lowest part.
  std::int32_t fewest(std::int32_t label) const { return static_cast<std::int32_t>(winner(label, 1)); }

 private:
  std::size_t first_of(std::int32_t label) const { return leaves_ * at(label); }
  /// Nodes from `leaves_` on are the parts; node n has the children 2n and 2n + 1.
  std::size_t winner(std::int32_t label, std::size_t node) const {
    return node >= leaves_ ? node - leaves_ : winners_[first_of(label) + node];
  }
  void play(std::int32_t label, std::size_t node) {
    const std::size_t left = winner(label, 2 * node);
    const std::size_t right = winner(label, 2 * node + 1);
    const bool right_wins = counts_[first_of(label) + right] < counts_[first_of(label) + left];
    winners_[first_of(label) + node] = static_cast<std::uint32_t>(right_wins ? right : left);
  }

  std::size_t leaves_;                  ///< a power of two
  std::vector<std::int64_t> counts_;    ///< by label and part
  std::vector<std::uint32_t> winners_;  ///< by label and inner node
};

/// The number of vertices of each label.
std::vector<double> count_labels(const std::vector<std::int32_t>& labels, std::int32_t num_labels) {
  std::vector<double> counts(at(num_labels), 0);
  for (const std::int32_t label : labels) {
    ++counts[at(label)];
  }
  return counts;
}

class Partitioning {
 public:
  Partitioning(const Graph& graph, const PartitionRequest& request)
      : labels_(labels_of(graph)),
        counts_(request.parts, balanced_classes(graph) + 1),
        bytes_(request.parts, 1),
        row_bytes_(graph.num_vertices() > 0 ? graph.features.bytes() / graph.num_vertices() : 0),
        part_of_(labels_.size(), no_part),
        near_(at(request.parts), 0) {
    if (request.max_load) {
      const std::int64_t all = graph.num_vertices() * (row_bytes_ + pointer_bytes) +
                               static_cast<std::int64_t>(graph.indices.bytes().size());
      max_bytes_ = *request.max_load * static_cast<double>(all) / request.parts;
    }
    for (const double count : count_labels(labels_, balanced_classes(graph) + 1)) {
      inverse_shares_.push_back(count > 0 ? static_cast<double>(labels_.size()) / count : 0);
      max_counts_.push_back(request.max_load ? std::ceil(*request.max_load * count / request.parts)
                                             : std::numeric_limits<double>::infinity());
    }
    const double alpha = std::sqrt(request.parts) * static_cast<double>(graph.num_edges()) /
                         std::pow(static_cast<double>(graph.num_vertices()), gamma);
    weight_ = alpha * gamma;
  }

  /// Assigns a vertex to a part, or reassigns it.
  template <class Ids>
  void place(VertexId vertex, Ids neighbours) {
    const std::int32_t label = labels_[at(vertex)];
    const std::int64_t bytes =
        row_bytes_ + pointer_bytes + static_cast<std::int64_t>(neighbours.size_bytes());
    std::int32_t& part = part_of_[at(vertex)];
    if (part != no_part) {
      counts_.add(label, part, -1);
      bytes_.add(0, part, -bytes);
      part = no_part;
    }
    count_near(neighbours);
    part = best_part(label);
    for (const std::int32_t seen : near_parts_) {
      near_[at(seen)] = 0;
    }
    counts_.add(label, part, 1);
    bytes_.add(0, part, bytes);
  }

  PartOf take() { return std::move(part_of_); }

 private:
  static constexpr double gamma = 1.5;
  static constexpr std::int64_t pointer_bytes = sizeof(std::int64_t);

  template <class Ids>
  void count_near(Ids neighbours) {
    near_parts_.clear();
    for (const auto neighbour : neighbours) {
      const std::int32_t part = part_of_[static_cast<std::size_t>(neighbour)];
      if (part != no_part && near_[at(part)]++ == 0) {
        near_parts_.push_back(part);
      }
    }
  }

  bool is_full(std::int32_t part, std::int32_t label) const {
    return static_cast<double>(counts_.of(label, part)) >= max_counts_[at(label)] ||
           static_cast<double>(bytes_.of(0, part)) >= max_bytes_;
  }

  std::int32_t best_part(std::int32_t label) const {
    std::int32_t best = counts_.fewest(label);
    if (is_full(best, label) && !is_full(bytes_.fewest(0), label)) {
      best = bytes_.fewest(0);
    }
    double best_score = score(best, label);
    for (const std::int32_t part : near_parts_) {
      if (is_full(part, label)) {
        continue;
      }
      const double its = score(part, label);
      if (its > best_score || (its == best_score && part < best)) {
        best = part;
        best_score = its;
      }
    }
    return best;
  }

  double score(std::int32_t part, std::int32_t label) const {
    const double balanced = static_cast<double>(counts_.of(label, part)) * inverse_shares_[at(label)];
    return static_cast<double>(near_[at(part)]) - weight_ * std::sqrt(balanced);  // x^(gamma - 1)
  }

  std::vector<std::int32_t> labels_;
  std::vector<double> inverse_shares_;  ///< by label: 1 over its share of all vertices
  std::vector<double> max_counts_;      ///< by label: of a part
  double max_bytes_ = std::numeric_limits<double>::infinity();  ///< of a part
  PartCounts counts_;
  PartCounts bytes_;        ///< as stored
  std::int64_t row_bytes_;  ///< of a vertex's features, the mean of sparse ones
  PartOf part_of_;
  std::vector<std::int64_t> near_;        ///< by part: assigned neighbours of the current vertex
  std::vector<std::int32_t> near_parts_;  ///< the parts with at least one
  double weight_ = 0;                     ///< alpha · gamma
};

}  // namespace

PartOf partition_gnn_aware(const Graph& graph, const PartitionRequest& request,
                           const base::Progress& progress) {
  Partitioning partitioning(graph, request);
  for (int pass = 0; pass < request.passes; ++pass) {
    visit_lists(graph, {"partitioning", pass, request.passes}, progress,
                [&](VertexId vertex, auto neighbours) { partitioning.place(vertex, neighbours); });
  }
  return partitioning.take();
}

}  // namespace gnomon::graph
