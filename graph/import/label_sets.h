#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gnomon::graph {

/// The distinct sets of classes of a multi-label graph (graph/graph.h).
struct LabelSets {
  std::int32_t classes = 0;
  /// sets x classes, row-major, 0 or 1; empty if each vertex has one class
  std::vector<std::uint8_t> rows{};
};

/// The class of a vertex that has one, as an integral number; -1 for -1 and NaN, which are unknown. Throws
/// InputError that names `where` for other numbers.
std::int32_t class_of(double number, std::int64_t vertex, const std::string& where);

/// Collects the labels of a multi-label graph: one row per vertex with a number for each class.
class LabelSetCollector {
 public:
  /// Errors name `where`.
  LabelSetCollector(std::int64_t classes, std::string where);

  /// Adds the next vertex: take_labels() then has label_of() its row.
  void add(std::span<const float> row) { labels_.push_back(label_of(row, std::ssize(labels_))); }
  /// The label of a vertex. Its numbers are 1 for the classes that it has and 0 for the others, or all -1 or
  /// NaN if they are unknown. Throws InputError for other numbers.
  std::int32_t label_of(std::span<const float> row, std::int64_t vertex);
  std::int32_t classes() const { return sets_.classes; }
  /// The label of each vertex that was added: a row of the sets, -1 for unknown.
  std::vector<std::int32_t> take_labels() { return std::move(labels_); }
  LabelSets take_sets() { return std::move(sets_); }

 private:
  std::int32_t number_of(const std::string& set);

  std::string where_;
  LabelSets sets_;
  std::vector<std::int32_t> labels_;
  std::unordered_map<std::string, std::int32_t> numbers_;  ///< by the bytes of a set
  std::string set_;
};

}  // namespace gnomon::graph
