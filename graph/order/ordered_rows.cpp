#include "graph/order/ordered_rows.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/index.h"
#include "graph/fill_blocks.h"
#include "graph/store/scratch_file.h"

namespace gnomon::graph {
namespace {

using WriteRows = std::function<void(std::span<const std::byte>)>;

using base::at;

void gather_rows(const Features& features, std::span<const VertexId> order, const Resources& resources,
                 const WriteRows& write, const base::Progress& progress) {
  constexpr std::int64_t block_rows = 1 << 10;
  const std::int64_t row_bytes = features.row_bytes();
  const auto fill = [&](std::int64_t, std::int64_t first, std::span<std::byte> rows) {
    for (std::size_t done = 0; done < rows.size(); done += at(row_bytes)) {
      const VertexId vertex = order[at(first / row_bytes) + done / at(row_bytes)];
      std::copy_n(features.row(vertex), row_bytes, rows.data() + done);
    }
  };
  std::int64_t rows_done = 0;
  const auto visit = [&](std::span<const std::byte> rows) {
    write(rows);
    rows_done += std::ssize(rows) / row_bytes;
    base::report(progress, "reordering features", rows_done, std::ssize(order));
  };
  fill_blocks<std::byte>(std::ssize(order) * row_bytes, block_rows * row_bytes, fill, visit,
                         resources.threads);
}

/// Rows in a scratch file, bucketed by ranges of the new order; within a range, rows are in the order in
/// which they were added.
class Ranges {
 public:
  Ranges(std::int64_t ranges, std::int64_t buffer_bytes, const std::filesystem::path& directory)
      : file_(directory), buffer_bytes_(at(buffer_bytes)), ranges_(at(ranges)) {}

  void add(std::int64_t range, std::span<const std::byte> row) {
    Range& added = ranges_[at(range)];
    if (added.buffer.size() + row.size() > buffer_bytes_) {
      flush(added);
    }
    added.buffer.insert(added.buffer.end(), row.begin(), row.end());
  }
  /// Reads all rows of a range.
  std::vector<std::byte> rows(std::int64_t range) {
    flush(ranges_[at(range)]);
    std::vector<std::byte> all;
    for (const auto& [offset, bytes] : std::exchange(ranges_[at(range)].parts, {})) {
      all.resize(all.size() + bytes);
      file_.read(offset, std::span(all).last(bytes));
    }
    return all;
  }

 private:
  struct Range {
    std::vector<std::byte> buffer;
    std::vector<std::pair<std::int64_t, std::size_t>> parts;  ///< offset and bytes in the file
  };

  void flush(Range& range) {
    if (!range.buffer.empty()) {
      range.parts.emplace_back(file_.append(range.buffer), range.buffer.size());
      range.buffer.clear();
    }
  }

  ScratchFile file_;
  std::size_t buffer_bytes_;
  std::vector<Range> ranges_;
};

void distribute_rows(const Features& features, std::span<const VertexId> order, const Resources& resources,
                     const WriteRows& write, const base::Progress& progress) {
  const std::int64_t row_bytes = features.row_bytes();
  const std::int64_t memory = memory_of(resources);
  // A range is in memory twice: as it was added, and in order.
  const auto range_rows = std::max<std::int64_t>(1, memory / 4 / row_bytes);
  const std::int64_t count = (std::ssize(order) + range_rows - 1) / range_rows;
  Ranges ranges(count, memory / 4 / count, resources.scratch);
  {
    std::vector<std::int64_t> range_of(order.size());
    for (std::int64_t i = 0; i < std::ssize(order); ++i) {
      range_of[at(order[at(i)])] = i / range_rows;
    }
    for (std::int64_t vertex = 0; vertex < features.rows; ++vertex) {
      ranges.add(range_of[at(vertex)], {features.row(vertex), at(row_bytes)});
      base::report(progress, "distributing features", vertex, features.rows);
    }
  }
  std::vector<std::byte> block;
  for (std::int64_t range = 0; range < count; ++range) {
    const auto part = order.subspan(at(range * range_rows),
                                    at(std::min(range_rows, std::ssize(order) - range * range_rows)));
    std::vector<std::size_t> sequence(part.size());  // in which the rows were added: by their old ids
    std::iota(sequence.begin(), sequence.end(), std::size_t{0});
    std::sort(sequence.begin(), sequence.end(),
              [&](std::size_t a, std::size_t b) { return part[a] < part[b]; });
    const auto added = ranges.rows(range);
    block.resize(added.size());
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      std::copy_n(added.data() + i * at(row_bytes), row_bytes, block.data() + sequence[i] * at(row_bytes));
    }
    write(block);
    base::report(progress, "reordering features", range + 1, count);
  }
}

}  // namespace

void visit_rows(const Features& features, std::span<const VertexId> order, const Resources& resources,
                const WriteRows& write, const base::Progress& progress) {
  const bool fits = resources.scratch.empty() || features.bytes() <= memory_of(resources);
  (fits ? gather_rows : distribute_rows)(features, order, resources, write, progress);
}

}  // namespace gnomon::graph
