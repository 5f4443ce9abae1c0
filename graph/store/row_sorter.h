#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/store/csc_builder.h"

namespace gnomon::graph {

/// Sorts the rows of edges in buffers, and merges duplicates as the options say.
class RowSorter {
 public:
  /// `where` is named by errors and must outlive it.
  RowSorter(EdgeBuffers edges, Duplicates duplicates, const std::string& where)
      : edges_(edges), duplicates_(duplicates), where_(where) {}

  /// Sorts the row of edges [begin, end), which are in the input's order, by source and moves it to `to`, at
  /// most `begin`. Returns its new end. Throws InputError for a sum of weights beyond the range of fp32.
  std::int64_t sort(std::int64_t begin, std::int64_t end, std::int64_t to);
  /// Like sort(), for a row of an unweighted graph that is already sorted by source.
  std::int64_t merge(std::int64_t begin, std::int64_t end, std::int64_t to) const;

 private:
  std::int64_t sort_weighted(std::int64_t begin, std::int64_t end, std::int64_t to);
  void add_up();

  EdgeBuffers edges_;
  Duplicates duplicates_;
  const std::string& where_;
  std::vector<std::pair<VertexId, float>> row_;
};

}  // namespace gnomon::graph
