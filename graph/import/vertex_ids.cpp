#include "graph/import/vertex_ids.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "graph/import/edge_layout.h"
#include "graph/import/id_lines.h"
#include "graph/import/text_fields.h"

namespace gnomon::graph {
namespace {

[[noreturn]] void fail_repeated(const IdLines& lines, std::string_view id) {
  lines.fail("\"" + std::string(id) + "\" is repeated; list each vertex once");
}

std::shared_ptr<const NameTable> listed_names(const std::string& path) {
  const auto table = std::make_shared<NameTable>();
  IdLines lines(path);
  std::string_view name;
  for (bool first = true; lines.next(name); first = false) {
    if (first && names_an_id_column(name)) {
      continue;
    }
    if (table->find(name)) {
      fail_repeated(lines, name);
    }
    table->add(name);
  }
  return table;
}

std::vector<VertexId> listed_numbers(const std::string& path) {
  std::vector<VertexId> ids;
  std::unordered_set<VertexId> seen;
  IdLines lines(path);
  std::string_view text;
  for (bool first = true; lines.next(text); first = false) {
    if (first && !is_number(text)) {
      continue;
    }
    const auto id = whole_number(text);
    if (!id || *id < 0) {
      lines.fail("must be one vertex id, not \"" + std::string(text) + "\"");
    }
    if (!seen.insert(*id).second) {
      fail_repeated(lines, text);
    }
    ids.push_back(*id);
  }
  return ids;
}

}  // namespace

VertexId NameTable::add(std::string_view name) {
  if (const auto known = find(name)) {
    return *known;
  }
  const auto number = static_cast<VertexId>(names_.size());
  numbers_.emplace(names_.emplace_back(name), number);
  return number;
}

std::optional<VertexId> NameTable::find(std::string_view name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

VertexIds VertexIds::unchanged(std::int64_t count) {
  VertexIds ids;
  ids.count_ = count;
  return ids;
}

VertexIds VertexIds::numbers(std::vector<VertexId> ids) {
  VertexIds result;
  result.count_ = static_cast<std::int64_t>(ids.size());
  Numbers numbers;
  if (std::is_sorted(ids.begin(), ids.end())) {
    numbers.sorted = std::move(ids);
  } else {
    const auto id_of = [&](VertexId vertex) { return ids[static_cast<std::size_t>(vertex)]; };
    numbers.vertices.resize(ids.size());
    std::iota(numbers.vertices.begin(), numbers.vertices.end(), 0);
    std::sort(numbers.vertices.begin(), numbers.vertices.end(),
              [&](VertexId a, VertexId b) { return id_of(a) < id_of(b); });
    for (const VertexId vertex : numbers.vertices) {
      numbers.sorted.push_back(id_of(vertex));
    }
  }
  result.numbers_ = std::make_shared<const Numbers>(std::move(numbers));
  return result;
}

VertexIds VertexIds::names(std::shared_ptr<const NameTable> table) {
  VertexIds ids;
  ids.count_ = static_cast<std::int64_t>(table->names().size());
  ids.table_ = std::move(table);
  return ids;
}

VertexIds VertexIds::listed(const std::string& path, bool names) {
  return names ? VertexIds::names(listed_names(path)) : numbers(listed_numbers(path));
}

std::optional<VertexId> VertexIds::find(VertexId id) const {
  if (numbers_ == nullptr) {
    return id >= 0 && id < count_ ? std::optional(id) : std::nullopt;
  }
  const auto& sorted = numbers_->sorted;
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), id);
  if (found == sorted.end() || *found != id) {
    return std::nullopt;
  }
  const auto rank = found - sorted.begin();
  return numbers_->vertices.empty() ? rank : numbers_->vertices[static_cast<std::size_t>(rank)];
}

std::optional<VertexId> VertexIds::find(std::string_view text) const {
  if (are_names()) {
    return table_->find(text);
  }
  const auto id = whole_number(text);
  return id ? find(*id) : std::nullopt;
}

std::string VertexIds::why_not_found(std::string_view text) const {
  const std::string shown(text);
  if (are_names()) {
    return "\"" + shown + "\" is no vertex of the graph";
  }
  if (!whole_number(text)) {
    return "must be one vertex id, not \"" + shown + "\"";
  }
  return "vertex " + shown +
         (numbers_ == nullptr ? " is out of range; use 0 to " + std::to_string(count_ - 1)
                              : " is no vertex of the graph");
}

std::vector<VertexId> VertexIds::original_ids() const {
  if (numbers_ == nullptr) {
    return {};
  }
  std::vector<VertexId> ids = numbers_->sorted;
  for (std::size_t i = 0; i < numbers_->vertices.size(); ++i) {
    ids[static_cast<std::size_t>(numbers_->vertices[i])] = numbers_->sorted[i];
  }
  return ids;
}

std::shared_ptr<const std::deque<std::string>> VertexIds::all_names() const {
  return table_ == nullptr ? nullptr
                           : std::shared_ptr<const std::deque<std::string>>(table_, &table_->names());
}

}  // namespace gnomon::graph
