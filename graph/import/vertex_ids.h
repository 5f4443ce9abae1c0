#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"

namespace gnomon::graph {

/// Distinct names, numbered from 0 in the order in which they were added. A name takes about 80 bytes.
class NameTable {
 public:
  NameTable() = default;
  NameTable(const NameTable&) = delete;
  NameTable& operator=(const NameTable&) = delete;

  /// Returns the number of a name, adding it if it is new.
  VertexId add(std::string_view name);
  std::optional<VertexId> find(std::string_view name) const;
  const std::deque<std::string>& names() const { return names_; }

 private:
  std::deque<std::string> names_;  // a deque, as the keys refer to its elements, which must not move
  std::unordered_map<std::string_view, VertexId> numbers_;
};

/// Which vertex an id or name of the input data stands for. Copies share the tables.
class VertexIds {
 public:
  /// Ids are the vertices 0 to count - 1.
  static VertexIds unchanged(std::int64_t count);
  /// Vertex i has the id ids[i]. Precondition: ids are distinct.
  static VertexIds numbers(std::vector<VertexId> ids);
  /// Vertex i has the i-th name.
  static VertexIds names(std::shared_ptr<const NameTable> table);
  /// Reads the ids or names of all vertices from a file with one per line and an optional header. Throws
  /// InputError, naming file and line, for a line that is not an id, and for one that is repeated.
  static VertexIds listed(const std::string& path, bool names);

  std::int64_t count() const { return count_; }
  bool are_names() const { return table_ != nullptr; }
  /// Returns the vertex of an id; nothing if there is none. Precondition: ids are numbers.
  std::optional<VertexId> find(VertexId id) const;
  /// Returns the vertex of an id or name as a text file spells it; nothing if there is none.
  std::optional<VertexId> find(std::string_view text) const;
  /// Returns an error text for an id or name that denotes no vertex.
  std::string why_not_found(std::string_view text) const;
  /// Returns the ids of the vertices if they are numbers and differ from 0 to count - 1; otherwise nothing.
  std::vector<VertexId> original_ids() const;
  /// Returns the names of the vertices; null if ids are numbers.
  std::shared_ptr<const std::deque<std::string>> all_names() const;

 private:
  struct Numbers {
    std::vector<VertexId> sorted;
    std::vector<VertexId> vertices;  ///< of the sorted ids; empty if they are 0 to count - 1
  };
  std::int64_t count_ = 0;
  std::shared_ptr<const Numbers> numbers_;  ///< null if ids are unchanged
  std::shared_ptr<const NameTable> table_;
};

}  // namespace gnomon::graph
