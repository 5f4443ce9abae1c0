#include "graph/store/row_sorter.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace gnomon::graph {

std::int64_t RowSorter::sort(std::int64_t begin, std::int64_t end, std::int64_t to) {
  if (edges_.weights != nullptr) {
    return sort_weighted(begin, end, to);
  }
  std::sort(edges_.indices + begin, edges_.indices + end);
  return merge(begin, end, to);
}

std::int64_t RowSorter::merge(std::int64_t begin, std::int64_t end, std::int64_t to) const {
  VertexId* const first = edges_.indices + begin;
  VertexId* last = edges_.indices + end;
  if (duplicates_ != Duplicates::keep) {
    last = std::unique(first, last);
  }
  if (to != begin) {
    std::copy(first, last, edges_.indices + to);
  }
  return to + (last - first);
}

std::int64_t RowSorter::sort_weighted(std::int64_t begin, std::int64_t end, std::int64_t to) {
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
void RowSorter::add_up() {
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

}  // namespace gnomon::graph
