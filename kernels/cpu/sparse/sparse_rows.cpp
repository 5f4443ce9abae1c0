#include "kernels/cpu/sparse/sparse_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/index.h"

namespace gnomon::kernels::cpu {
namespace {

using base::at;

/// Parallel counting sort over parts of consecutive rows. Each part counts its entries by source; prefix sums
/// over all counts give the positions of each part's entries, which equal those of a sequential pass.
class PartedTranspose {
 public:
  PartedTranspose(const SparseRows& rows, const TransposedSpans& transposed, std::span<std::int32_t> places,
                  int parts)
      : rows_(rows),
        transposed_(transposed),
        places_(places),
        row_ranges_(balanced_ranges(rows.indptr, parts)),
        begins_(at(parts) + 1, 0) {}

  /// Counts the entries of each source in the part's rows.
  void count(int part) {
    const auto counts = places_of(part);
    std::fill(counts.begin(), counts.end(), 0);
    const auto [first, last] = row_ranges_[at(part)];
    for (std::int64_t e = rows_.indptr[at(first)]; e < rows_.indptr[at(last)]; ++e) {
      ++counts[at(rows_.columns[at(e)])];
    }
  }
  /// Adds up the counts of a share of the sources.
  void add_up(int share) {
    std::int64_t sum = 0;
    for (std::int64_t u = begin_of(share); u < begin_of(share + 1); ++u) {
      for (int part = 0; part < parts(); ++part) {
        sum += places_of(part)[at(u)];
      }
    }
    begins_[at(share) + 1] = sum;
  }
  void scan_shares() { std::inclusive_scan(begins_.begin(), begins_.end(), begins_.begin()); }
  /// Turns the counts of a share of the sources into the places of each part's first entries.
  void find_places(int share) {
    std::int64_t next = begins_[at(share)];
    for (std::int64_t u = begin_of(share); u < begin_of(share + 1); ++u) {
      transposed_.indptr[at(u)] = next;
      for (int part = 0; part < parts(); ++part) {
        next += std::exchange(places_of(part)[at(u)], static_cast<std::int32_t>(next));
      }
    }
    if (share + 1 == parts()) {
      transposed_.indptr[at(num_sources())] = next;
    }
  }
  void place(int part) {
    const auto next = places_of(part);
    const auto [first, last] = row_ranges_[at(part)];
    for (std::int64_t row = first; row < last; ++row) {
      for (std::int64_t e = rows_.indptr[at(row)]; e < rows_.indptr[at(row + 1)]; ++e) {
        const auto to = at(next[at(rows_.columns[at(e)])]++);
        transposed_.destinations[to] = static_cast<std::int32_t>(row);
        transposed_.edges[to] = static_cast<std::int32_t>(e);
      }
    }
  }

 private:
  int parts() const { return static_cast<int>(row_ranges_.size()); }
  std::int64_t num_sources() const { return std::ssize(transposed_.indptr) - 1; }
  std::int64_t begin_of(int share) const { return num_sources() * share / parts(); }
  std::span<std::int32_t> places_of(int part) const {
    return places_.subspan(at(num_sources() * part), at(num_sources()));
  }

  const SparseRows& rows_;
  const TransposedSpans& transposed_;
  std::span<std::int32_t> places_;  ///< by part and source: counts, then the places of the next entries
  std::vector<RowRange> row_ranges_;
  std::vector<std::int64_t> begins_;  ///< of each share of the sources among all entries
};

}  // namespace

void transpose(const SparseRows& rows, const TransposedSpans& transposed, std::span<std::int32_t> places,
               int parts, const base::ForkJoin& fork_join) {
  PartedTranspose work(rows, transposed, places, parts);
  fork_join(parts, [&](int part) { work.count(part); });
  fork_join(parts, [&](int share) { work.add_up(share); });
  work.scan_shares();
  fork_join(parts, [&](int share) { work.find_places(share); });
  fork_join(parts, [&](int part) { work.place(part); });
}

void transpose(const SparseRows& rows, const TransposedSpans& transposed) {
  const auto& [indptr, destinations, edges] = transposed;
  std::fill(indptr.begin(), indptr.end(), 0);
  for (const std::int32_t source : rows.columns) {
    ++indptr[static_cast<std::size_t>(source) + 1];
  }
  // indptr[u + 1] holds the begin of u's entries; the loop below advances it to their end, which is the begin
  // of the next source's entries.
  std::exclusive_scan(indptr.begin() + 1, indptr.end(), indptr.begin() + 1, std::int64_t{0});
  for (std::size_t v = 0; v + 1 < rows.indptr.size(); ++v) {
    for (std::int64_t edge = rows.indptr[v]; edge < rows.indptr[v + 1]; ++edge) {
      const std::int32_t source = rows.columns[static_cast<std::size_t>(edge)];
      const auto at = static_cast<std::size_t>(indptr[static_cast<std::size_t>(source) + 1]++);
      destinations[at] = static_cast<std::int32_t>(v);
      edges[at] = static_cast<std::int32_t>(edge);
    }
  }
}

TransposedBlock transpose(const SparseRows& rows, std::int64_t num_sources) {
  TransposedBlock transposed;
  transposed.indptr.resize(static_cast<std::size_t>(num_sources) + 1);
  transposed.destinations.resize(rows.columns.size());
  transposed.edges.resize(rows.columns.size());
  transpose(rows, {transposed.indptr, transposed.destinations, transposed.edges});
  return transposed;
}

SparseRows rows_of(const Block& block) { return {block.indptr, block.indices, {}}; }

SparseRows rows_of(const TransposedBlock& transposed) {
  return {transposed.indptr, transposed.destinations, transposed.edges};
}

std::vector<float> inverse_degrees(std::span<const std::int64_t> indptr) {
  std::vector<float> inverse(indptr.size() - 1);
  for (std::size_t row = 0; row < inverse.size(); ++row) {
    const auto degree = static_cast<float>(indptr[row + 1] - indptr[row]);
    inverse[row] = degree > 0 ? 1 / degree : 0;
  }
  return inverse;
}

std::vector<RowRange> balanced_ranges(std::span<const std::int64_t> indptr, std::int64_t parts) {
  const auto num_rows = static_cast<std::int64_t>(indptr.size()) - 1;
  const auto work_before = [&](std::int64_t row) { return indptr[static_cast<std::size_t>(row)] + row; };
  std::vector<RowRange> ranges;
  std::int64_t row = 0;
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t first = row;
    const std::int64_t target = work_before(num_rows) * (part + 1) / parts;
    std::int64_t beyond = num_rows;
    while (row < beyond) {  // binary search for the last row boundary with at most `target` work before it
      const std::int64_t middle = row + (beyond - row + 1) / 2;
      if (work_before(middle) <= target) {
        row = middle;
      } else {
        beyond = middle - 1;
      }
    }
    ranges.push_back({first, row});
  }
  return ranges;
}

std::vector<RowRange> balanced_columns(const SparseRows& rows, std::int64_t num_columns, std::int64_t parts) {
  if (parts == 1) {
    return {{0, num_columns}};
  }
  constexpr std::int64_t sampled_rows = 512;
  const std::int64_t step = std::max<std::int64_t>(1, rows.num_rows() / sampled_rows);
  std::vector<std::int64_t> ends(static_cast<std::size_t>(num_columns) + 1, 0);
  for (std::int64_t row = 0; row < rows.num_rows(); row += step) {
    for (std::int64_t entry = rows.indptr[static_cast<std::size_t>(row)];
         entry < rows.indptr[static_cast<std::size_t>(row) + 1]; ++entry) {
      ++ends[static_cast<std::size_t>(rows.columns[static_cast<std::size_t>(entry)]) + 1];
    }
  }
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  return balanced_ranges(ends, parts);
}

}  // namespace gnomon::kernels::cpu
