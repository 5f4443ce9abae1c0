#include "graph/store/builder.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "graph/half.h"

namespace gnomon::graph {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

void check_edge(const Edge& edge, std::int64_t position, std::int64_t num_vertices,
                const std::string& where) {
  for (const VertexId id : {edge.source, edge.destination}) {
    if (id < 0 || id >= num_vertices) {
      throw base::InputError(where, "edge " + std::to_string(position) + ": vertex id " + std::to_string(id) +
                                        " is out of range; use 0 to " + std::to_string(num_vertices - 1));
    }
  }
  if (!std::isfinite(edge.weight) || edge.weight < 0) {
    throw base::InputError(where, "edge " + std::to_string(position) + ": weight " +
                                      std::to_string(edge.weight) + " is invalid; use finite numbers from 0");
  }
}

/// Calls put(source, destination, weight) for every edge after the options have been applied.
template <class Put>
void for_each_entry(const EdgeStream& edges, const EdgeOptions& options, std::int64_t num_vertices, Put put) {
  edges([&](std::span<const Edge> block) {
    for (const Edge& edge : block) {
      const VertexId source = options.reverse ? edge.destination : edge.source;
      const VertexId destination = options.reverse ? edge.source : edge.destination;
      if (source == destination) {
        if (options.self_loops == SelfLoops::keep) {
          put(source, destination, edge.weight);
        }
        continue;
      }
      put(source, destination, edge.weight);
      if (options.undirected) {
        put(destination, source, edge.weight);
      }
    }
  });
  if (options.self_loops == SelfLoops::add) {
    for (VertexId vertex = 0; vertex < num_vertices; ++vertex) {
      put(vertex, vertex, 1.0F);
    }
  }
}

/// Wraps `edges`: checks every edge and reports progress.
EdgeStream checked(const EdgeStream& edges, std::int64_t num_vertices, const std::string& where,
                   const char* what, std::int64_t total, const base::Progress& progress) {
  return [=, &edges, &where, &progress](const EdgeVisitor& visit) {
    std::int64_t done = 0;
    edges([&](std::span<const Edge> block) {
      for (std::size_t i = 0; i < block.size(); ++i) {
        check_edge(block[i], done + static_cast<std::int64_t>(i), num_vertices, where);
      }
      visit(block);
      done += static_cast<std::int64_t>(block.size());
      base::report(progress, what, done, total);
    });
  };
}

/// Sorts rows and removes duplicates if required.
class RowSorter {
 public:
  RowSorter(EdgeBuffers edges, Duplicates duplicates, const std::string& where)
      : edges_(edges), duplicates_(duplicates), where_(where) {}

  /// Sorts the row of edges [begin, end), which are in the input's order, and moves it to `to`. Returns its
  /// new end.
  std::int64_t sort(std::int64_t begin, std::int64_t end, std::int64_t to) {
    return edges_.weights == nullptr ? sort_ids(begin, end, to) : sort_weighted(begin, end, to);
  }

 private:
  std::int64_t sort_ids(std::int64_t begin, std::int64_t end, std::int64_t to) const {
    VertexId* const first = edges_.indices + begin;
    VertexId* last = edges_.indices + end;
    std::sort(first, last);
    if (duplicates_ != Duplicates::keep) {
      last = std::unique(first, last);
    }
    if (to != begin) {
      std::copy(first, last, edges_.indices + to);
    }
    return to + (last - first);
  }

  std::int64_t sort_weighted(std::int64_t begin, std::int64_t end, std::int64_t to) {
    row_.clear();
    for (std::int64_t e = begin; e < end; ++e) {
      row_.emplace_back(edges_.indices[e], edges_.weights[e]);
    }
    if (duplicates_ == Duplicates::sum || duplicates_ == Duplicates::first) {
      std::stable_sort(row_.begin(), row_.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
    } else {
      std::sort(row_.begin(), row_.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : a.second > b.second;
      });
    }
    if (duplicates_ == Duplicates::sum) {
      add_up();
    } else if (duplicates_ != Duplicates::keep) {
      const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
      row_.erase(std::unique(row_.begin(), row_.end(), same), row_.end());
    }
    for (const auto& [id, weight] : row_) {
      edges_.indices[to] = id;
      edges_.weights[to++] = weight;
    }
    return to;
  }

  /// Replaces the edges of one source by their sum, added in the input's order.
  void add_up() {
    std::size_t kept = 0;
    for (std::size_t next = 0; next < row_.size();) {
      const VertexId source = row_[next].first;
      double sum = 0;
      for (; next < row_.size() && row_[next].first == source; ++next) {
        sum += row_[next].second;
      }
      row_[kept] = {source, static_cast<float>(sum)};
      if (!std::isfinite(row_[kept++].second)) {
        throw base::InputError(where_, "the weights of the duplicate edges from vertex " +
                                           std::to_string(source) + " add up to more than fp32 holds; use " +
                                           "max or first for duplicates");
      }
    }
    row_.resize(kept);
  }

  EdgeBuffers edges_;
  Duplicates duplicates_;
  const std::string& where_;
  std::vector<std::pair<VertexId, float>> row_;
};

/// Sorts every row and closes the gaps that removed duplicates leave. `ends[v]` is the end of row v.
void sort_rows(std::vector<std::int64_t>& ends, const EdgeBuffers& edges, Duplicates duplicates,
               const std::string& where, const base::Progress& progress) {
  RowSorter sorter(edges, duplicates, where);
  constexpr std::size_t report_every = std::size_t{1} << 16;
  std::int64_t begin = 0;
  std::int64_t used = 0;
  for (std::size_t vertex = 0; vertex < ends.size(); ++vertex) {
    used = sorter.sort(begin, ends[vertex], used);
    begin = ends[vertex];
    ends[vertex] = used;
    if (vertex % report_every == 0) {
      base::report(progress, "sorting rows", static_cast<std::int64_t>(vertex),
                   static_cast<std::int64_t>(ends.size()));
    }
  }
}

/// The storage of a graph in memory.
struct GraphMemory {
  std::vector<std::int64_t> indptr;
  std::vector<VertexId> indices;
  std::vector<float> edge_weights;
  std::vector<float> features;
  std::vector<std::uint16_t> half_features;
  std::vector<std::int32_t> labels;
  std::vector<VertexId> train, valid, test;
};

void check_sizes(const GraphParts& parts) {
  if (!parts.features.empty() && parts.features.size() != at(parts.num_vertices * parts.feature_columns)) {
    throw base::InputError(parts.name + ": features", "must have num_vertices × feature_columns elements");
  }
  if (!parts.labels.empty() && parts.labels.size() != at(parts.num_vertices)) {
    throw base::InputError(parts.name + ": labels", "must have one element per vertex");
  }
}

Features features_of(GraphMemory& memory, const GraphParts& parts) {
  Features features;
  if (memory.features.empty()) {
    return features;
  }
  features.type = parts.feature_type;
  features.rows = parts.num_vertices;
  features.columns = parts.feature_columns;
  features.data = reinterpret_cast<const std::byte*>(memory.features.data());
  if (parts.feature_type == FeatureType::fp16) {
    memory.half_features.resize(memory.features.size());
    std::transform(memory.features.begin(), memory.features.end(), memory.half_features.begin(),
                   half_from_float);
    memory.features = {};
    features.data = reinterpret_cast<const std::byte*>(memory.half_features.data());
  }
  return features;
}

}  // namespace

std::vector<std::int64_t> build_csc(std::int64_t num_vertices, const EdgeStream& edges,
                                    const EdgeOptions& options, const AllocateEdges& allocate,
                                    const std::string& where, const base::Progress& progress) {
  // Counting sort with one array: degrees are counted one row further on, so that after the prefix sum
  // starts[v] is the begin of row v; filling advances it to the row's end.
  std::vector<std::int64_t> starts(at(num_vertices) + 1, 0);
  std::int64_t total = 0;
  const auto counting = checked(edges, num_vertices, where, "counting edges", 0, progress);
  for_each_entry(counting, options, num_vertices, [&](VertexId, VertexId destination, float) {
    ++starts[at(destination) + 1];
    ++total;
  });
  for (std::size_t vertex = 1; vertex < starts.size(); ++vertex) {
    starts[vertex] += starts[vertex - 1];
  }
  const EdgeBuffers buffers = allocate(total);
  const auto filling = checked(edges, num_vertices, where, "placing edges", total, progress);
  for_each_entry(filling, options, num_vertices, [&](VertexId source, VertexId destination, float weight) {
    const std::int64_t position = starts[at(destination)]++;
    buffers.indices[position] = source;
    if (buffers.weights != nullptr) {
      buffers.weights[position] = weight;
    }
  });
  starts.pop_back();
  sort_rows(starts, buffers, options.duplicates, where, progress);
  starts.insert(starts.begin(), 0);
  return starts;
}

Graph make_graph(GraphParts parts) {
  check_sizes(parts);
  const auto memory = std::make_shared<GraphMemory>();
  const EdgeStream edges = [&](const EdgeVisitor& visit) { visit(parts.edges); };
  const auto allocate = [&](std::int64_t count) {
    memory->indices.resize(at(count));
    memory->edge_weights.resize(parts.weighted ? at(count) : 0);
    return EdgeBuffers{memory->indices.data(), parts.weighted ? memory->edge_weights.data() : nullptr};
  };
  memory->indptr = build_csc(parts.num_vertices, edges, parts.edge_options, allocate, parts.name + ": edges");
  memory->indices.resize(at(memory->indptr.back()));
  memory->edge_weights.resize(parts.weighted ? memory->indices.size() : 0);
  memory->features = std::move(parts.features);
  memory->labels = std::move(parts.labels);
  memory->train = std::move(parts.train);
  memory->valid = std::move(parts.valid);
  memory->test = std::move(parts.test);

  Graph graph;
  graph.name = parts.name;
  graph.indptr = memory->indptr;
  graph.indices = memory->indices;
  graph.edge_weights = memory->edge_weights;
  graph.features = features_of(*memory, parts);
  graph.labels = memory->labels;
  graph.num_classes =
      graph.labels.empty() ? 0 : 1 + *std::max_element(graph.labels.begin(), graph.labels.end());
  graph.train = memory->train;
  graph.valid = memory->valid;
  graph.test = memory->test;
  graph.storage = memory;
  return graph;
}

}  // namespace gnomon::graph
