#include "graph/import/edge_list.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "graph/import/arrays.h"
#include "graph/import/edge_lines.h"
#include "graph/import/parse_edges.h"
#include "graph/import/split_files.h"
#include "graph/import/vertex_ids.h"

namespace gnomon::graph {
namespace {

std::shared_ptr<const NameTable> distinct_names(const std::string& path, const EdgeLayout& layout) {
  const auto table = std::make_shared<NameTable>();
  EdgeLines lines(path, layout, false);
  for (NamedEdge edge; lines.next(edge);) {
    table->add(edge.source);
    table->add(edge.destination);
  }
  return table;
}

/// Throws InputError for rows of features or labels that cannot be matched to named vertices.
void check_rows_of_names(const ImportOptions& options) {
  for (const auto& [option, file] :
       {std::pair{"--features", &options.features}, std::pair{"--labels", &options.labels}}) {
    if (!file->empty() && options.vertices.empty()) {
      throw base::InputError(option,
                             "needs --vertices FILE with the names in the order of its rows, as the ids in " +
                                 options.source + " are names");
    }
  }
}

/// Returns the vertex of an id or name in the line that was read last. Throws InputError if there is none.
template <class Id>
VertexId vertex_of(const EdgeLines& lines, const VertexIds& ids, Id id) {
  const auto vertex = ids.find(id);
  if (!vertex) {
    if constexpr (std::is_same_v<Id, VertexId>) {
      lines.fail(ids.why_not_found(std::to_string(id)));
    } else {
      lines.fail(ids.why_not_found(id));
    }
  }
  return *vertex;
}

/// The edges of an edge list, each as to_edge(lines, line) makes it of a line of type Line (Edge or
/// NamedEdge).
template <class Line, class ToEdge>
EdgeStream listed_edges(const std::string& path, const EdgeLayout& layout, bool weighted, ToEdge to_edge) {
  return [=](const EdgeVisitor& visit) {
    const auto parse = [&](LineReader& reader, std::vector<Edge>& edges) {
      EdgeLines lines(std::move(reader), layout, weighted);
      for (Line line; lines.next(line);) {
        edges.push_back(to_edge(lines, line));
      }
    };
    parse_edges(EdgeLines::after_header(path, layout), path, parse, visit);
  };
}

/// The edges between the vertices that ids of type Line::source stand for.
template <class Line>
EdgeStream renamed_edges(const std::string& path, const EdgeLayout& layout, bool weighted,
                         const VertexIds& ids) {
  return listed_edges<Line>(path, layout, weighted, [ids](const EdgeLines& lines, const Line& line) {
    return Edge{vertex_of(lines, ids, line.source), vertex_of(lines, ids, line.destination), line.weight};
  });
}

EdgeStream unchanged_edges(const std::string& path, const EdgeLayout& layout, bool weighted) {
  return listed_edges<Edge>(path, layout, weighted, [](const EdgeLines&, const Edge& edge) { return edge; });
}

/// Returns the distinct ids, ascending. Holds at most twice their number, or one million, in memory.
std::vector<VertexId> distinct_ids(const std::string& path, const EdgeLayout& layout) {
  std::vector<VertexId> ids;
  std::size_t limit = std::size_t{1} << 20;
  const auto compact = [&] {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    limit = std::max(limit, 2 * ids.size());
  };
  unchanged_edges(path, layout, false)([&](std::span<const Edge> block) {
    for (const Edge& edge : block) {
      ids.push_back(edge.source);
      ids.push_back(edge.destination);
    }
    if (ids.size() >= limit) {
      compact();
    }
  });
  compact();
  return ids;
}

/// Returns the number of vertices if ids are used unchanged: the maximum of the largest id plus one and the
/// numbers of features and labels.
std::int64_t count_vertices(const ImportOptions& options, const EdgeLayout& layout,
                            const base::Progress& progress) {
  VertexId largest = -1;
  std::int64_t edges = 0;
  unchanged_edges(options.source, layout, false)([&](std::span<const Edge> block) {
    for (const Edge& edge : block) {
      largest = std::max({largest, edge.source, edge.destination});
    }
    edges += std::ssize(block);
    base::report(progress, "reading ids", edges, 0);
  });
  // Sparse ids waste memory, or they are not consecutive numbers at all.
  if (largest >= 1'000'000 && (largest - 63) / 64 >= edges) {
    throw base::InputError(options.source, "has vertex id " + std::to_string(largest) + " but only " +
                                               std::to_string(edges) + " edges; use --relabel");
  }
  std::int64_t vertices = largest + 1;
  for (const auto& file : {options.features, options.labels}) {
    vertices = file.empty() ? vertices : std::max(vertices, open_npy_stream(file).rows());
  }
  return vertices;
}

VertexIds vertex_ids(const ImportOptions& options, const EdgeLayout& layout, const base::Progress& progress) {
  if (!options.vertices.empty()) {
    return VertexIds::listed(options.vertices, layout.names);
  }
  if (layout.names) {
    return VertexIds::names(distinct_names(options.source, layout));
  }
  if (options.relabel) {
    return VertexIds::numbers(distinct_ids(options.source, layout));
  }
  return VertexIds::unchanged(count_vertices(options, layout, progress));
}

/// Returns the same edges; a run of them marks the vertices at their ends.
EdgeStream marking(const EdgeStream& edges, const std::shared_ptr<std::vector<bool>>& marks) {
  return [edges, marks](const EdgeVisitor& visit) {
    edges([&](std::span<const Edge> block) {
      for (const Edge& edge : block) {
        for (const VertexId end : {edge.source, edge.destination}) {
          if (static_cast<std::size_t>(end) <
              marks->size()) {  // the file may have changed since it was counted
            (*marks)[static_cast<std::size_t>(end)] = true;
          }
        }
      }
      visit(block);
    });
  };
}

}  // namespace

EdgeList open_edge_list(const ImportOptions& options, const base::Progress& progress) {
  EdgeLayout layout = find_layout(options.source, options.header, options.ids);
  EdgeList list;
  list.notes = std::move(layout.notes);
  if (layout.names) {
    check_rows_of_names(options);
  }
  auto& source = list.source;
  source.where = options.source;
  source.weighted = options.takes_given_weights();
  const VertexIds ids = vertex_ids(options, layout, progress);
  source.num_vertices = ids.count();
  source.original_ids = ids.original_ids();
  source.names = ids.all_names();
  if (layout.names) {
    source.edges = renamed_edges<NamedEdge>(options.source, layout, source.weighted, ids);
    list.notes.push_back("ids are names: " + std::to_string(ids.count()) +
                         " vertices, numbered in the order of " +
                         (options.vertices.empty() ? "their first occurrence" : options.vertices) +
                         " and named in names.txt of the store");
  } else if (options.relabel || !options.vertices.empty()) {
    source.edges = renamed_edges<Edge>(options.source, layout, source.weighted, ids);
  } else {
    source.edges = unchanged_edges(options.source, layout, source.weighted);
    if (options.features.empty() && options.labels.empty()) {
      const auto marks = std::make_shared<std::vector<bool>>(static_cast<std::size_t>(ids.count()));
      source.edges = marking(source.edges, marks);
      list.has_edge = marks;
    }
  }
  add_given_arrays(source, options);
  source.split = read_split_files(options, ids);
  return list;
}

}  // namespace gnomon::graph
