#include "graph/import/split_files.h"

#include <array>
#include <fstream>
#include <functional>

#include "base/error.h"
#include "graph/import/edge_layout.h"
#include "graph/import/id_lines.h"
#include "graph/store/npy_stream.h"

namespace gnomon::graph {
namespace {

bool is_npy(const std::string& path) {
  std::array<char, 6> start{};
  std::ifstream(path, std::ios::binary).read(start.data(), start.size());
  return std::string_view(start.data(), start.size()) == "\x93NUMPY";
}

/// Passes a vertex and its place in the file ("line 3") to a set.
using Put = std::function<void(VertexId vertex, const std::string& place)>;

void read_mask(NpyStream stream, const VertexIds& ids, const Put& put) {
  if (stream.elements() != ids.count()) {
    throw base::InputError(stream.where(), "has " + std::to_string(stream.elements()) +
                                               " values; a mask must have " + std::to_string(ids.count()) +
                                               ", one per vertex");
  }
  Elements<std::int64_t> mask(std::move(stream));
  for (VertexId vertex = 0; vertex < ids.count(); ++vertex) {
    if (mask.next() != 0) {
      put(vertex, "position " + std::to_string(vertex));
    }
  }
}

void read_ids(NpyStream stream, const VertexIds& ids, const Put& put) {
  const std::string where = stream.where();
  if (ids.are_names()) {
    throw base::InputError(where, "must be a text file with one name per line, as the vertices have names");
  }
  const std::int64_t count = stream.elements();
  Elements<std::int64_t> elements(std::move(stream));
  for (std::int64_t i = 0; i < count; ++i) {
    const VertexId id = elements.next();
    const std::string place = "position " + std::to_string(i);
    const auto vertex = ids.find(id);
    if (!vertex) {
      throw base::InputError(where + ": " + place, ids.why_not_found(std::to_string(id)));
    }
    put(*vertex, place);
  }
}

void read_npy(const std::string& path, const VertexIds& ids, const Put& put) {
  NpyStream stream = open_npy_stream(path);
  if (stream.type() == DType::bool8) {
    read_mask(std::move(stream), ids, put);
  } else {
    read_ids(std::move(stream), ids, put);
  }
}

bool is_header(std::string_view text, const VertexIds& ids) {
  return ids.are_names() ? names_an_id_column(text) : !is_number(text);
}

void read_text(const std::string& path, const VertexIds& ids, const Put& put) {
  IdLines lines(path);
  std::string_view id;
  for (bool first = true; lines.next(id); first = false) {
    const auto vertex = ids.find(id);
    if (vertex) {
      put(*vertex, "line " + std::to_string(lines.line_number()));
    } else if (!first || !is_header(id, ids)) {
      lines.fail(ids.why_not_found(id));
    }
  }
}

}  // namespace

Split read_split_files(const ImportOptions& options, const VertexIds& ids) {
  Split split;
  const std::array<std::pair<const std::string*, std::vector<VertexId>*>, 3> sets{
      {{&options.train_ids, &split.train},
       {&options.valid_ids, &split.valid},
       {&options.test_ids, &split.test}}};
  std::vector<char> owners(options.train_ids.empty() ? 0 : static_cast<std::size_t>(ids.count()), 0);
  for (std::size_t set = 0; set < sets.size(); ++set) {
    const std::string& path = *sets[set].first;
    if (path.empty()) {
      continue;
    }
    const Put put = [&](VertexId vertex, const std::string& place) {
      char& owner = owners.at(static_cast<std::size_t>(vertex));
      if (owner != 0) {
        const auto& other = *sets[static_cast<std::size_t>(owner - 1)].first;
        throw base::InputError(path + ": " + place, "the vertex is " +
                                                        (other == path ? "repeated" : "also in " + other) +
                                                        "; list each vertex once, in one set");
      }
      owner = static_cast<char>(set + 1);
      sets[set].second->push_back(vertex);
    };
    is_npy(path) ? read_npy(path, ids, put) : read_text(path, ids, put);
  }
  return split;
}

}  // namespace gnomon::graph
