#include "graph/builder.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "graph/half.h"

namespace gnomon::graph {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

void check_ids(const Edge& edge, std::int64_t position, std::int64_t num_vertices, const std::string& where) {
  for (const VertexId id : {edge.source, edge.destination}) {
    if (id < 0 || id >= num_vertices) {
      throw base::InputError(where, "edge " + std::to_string(position) + ": vertex id " + std::to_string(id) +
                                        " is out of range; use 0 to " + std::to_string(num_vertices - 1));
    }
  }
}

/// Calls put(source, destination) for every entry that the options make of the edges.
template <class Put>
void for_each_entry(const EdgeStream& edges, const EdgeOptions& options, std::int64_t num_vertices, Put put) {
  edges([&](std::span<const Edge> block) {
    for (const Edge& edge : block) {
      if (edge.source == edge.destination) {
        if (options.self_loops == SelfLoops::keep) {
          put(edge.source, edge.destination);
        }
        continue;
      }
      put(edge.source, edge.destination);
      if (options.undirected) {
        put(edge.destination, edge.source);
      }
    }
  });
  if (options.self_loops == SelfLoops::add) {
    for (VertexId vertex = 0; vertex < num_vertices; ++vertex) {
      put(vertex, vertex);
    }
  }
}

/// Returns `edges` with every id checked and progress reported.
EdgeStream checked(const EdgeStream& edges, std::int64_t num_vertices, const std::string& where,
                   const char* what, std::int64_t total, const base::Progress& progress) {
  return [=, &edges, &where, &progress](const EdgeVisitor& visit) {
    std::int64_t done = 0;
    edges([&](std::span<const Edge> block) {
      for (std::size_t i = 0; i < block.size(); ++i) {
        check_ids(block[i], done + static_cast<std::int64_t>(i), num_vertices, where);
      }
      visit(block);
      done += static_cast<std::int64_t>(block.size());
      base::report(progress, what, done, total);
    });
  };
}

/// Sorts every row and, if asked, closes the gaps that duplicates leave. `ends[v]` is the end of row v.
void finish_rows(std::vector<std::int64_t>& ends, VertexId* indices, Duplicates duplicates,
                 const base::Progress& progress) {
  constexpr std::size_t report_every = std::size_t{1} << 16;
  std::int64_t begin = 0;
  std::int64_t used = 0;
  for (std::size_t vertex = 0; vertex < ends.size(); ++vertex) {
    VertexId* const first = indices + begin;
    VertexId* last = indices + ends[vertex];
    begin = ends[vertex];
    std::sort(first, last);
    if (duplicates == Duplicates::remove) {
      last = std::unique(first, last);
    }
    if (indices + used != first) {
      std::copy(first, last, indices + used);
    }
    used += last - first;
    ends[vertex] = used;
    if (vertex % report_every == 0) {
      base::report(progress, "sorting rows", static_cast<std::int64_t>(vertex),
                   static_cast<std::int64_t>(ends.size()));
    }
  }
}

/// What a graph in memory keeps alive.
struct GraphMemory {
  std::vector<std::int64_t> indptr;
  std::vector<VertexId> indices;
  std::vector<float> features;
  std::vector<std::uint16_t> half_features;
  std::vector<std::int32_t> labels;
  std::vector<VertexId> train, valid, test;
};

void check_sizes(const GraphParts& parts) {
  if (!parts.features.empty() && parts.features.size() != at(parts.num_vertices * parts.feature_columns)) {
    throw base::InputError(parts.name + ": features", "must be vertices × feature_columns numbers");
  }
  if (!parts.labels.empty() && parts.labels.size() != at(parts.num_vertices)) {
    throw base::InputError(parts.name + ": labels", "must be one a vertex");
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
                                    const EdgeOptions& options, const AllocateIndices& allocate,
                                    const std::string& where, const base::Progress& progress) {
  // Counts stand one row further on, so that after the sum starts[v] is where row v begins; filling moves it
  // to the row's end. One array serves all three.
  std::vector<std::int64_t> starts(at(num_vertices) + 1, 0);
  std::int64_t total = 0;
  const auto counting = checked(edges, num_vertices, where, "counting edges", 0, progress);
  for_each_entry(counting, options, num_vertices, [&](VertexId, VertexId destination) {
    ++starts[at(destination) + 1];
    ++total;
  });
  for (std::size_t vertex = 1; vertex < starts.size(); ++vertex) {
    starts[vertex] += starts[vertex - 1];
  }
  VertexId* const indices = allocate(total);
  const auto filling = checked(edges, num_vertices, where, "placing edges", total, progress);
  for_each_entry(filling, options, num_vertices,
                 [&](VertexId source, VertexId destination) { indices[starts[at(destination)]++] = source; });
  starts.pop_back();
  finish_rows(starts, indices, options.duplicates, progress);
  starts.insert(starts.begin(), 0);
  return starts;
}

Graph make_graph(GraphParts parts) {
  check_sizes(parts);
  const auto memory = std::make_shared<GraphMemory>();
  const EdgeStream edges = [&](const EdgeVisitor& visit) { visit(parts.edges); };
  const auto allocate = [&](std::int64_t count) {
    memory->indices.resize(at(count));
    return memory->indices.data();
  };
  memory->indptr = build_csc(parts.num_vertices, edges, parts.edge_options, allocate, parts.name + ": edges");
  memory->indices.resize(at(memory->indptr.back()));
  memory->features = std::move(parts.features);
  memory->labels = std::move(parts.labels);
  memory->train = std::move(parts.train);
  memory->valid = std::move(parts.valid);
  memory->test = std::move(parts.test);

  Graph graph;
  graph.name = parts.name;
  graph.indptr = memory->indptr;
  graph.indices = memory->indices;
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
