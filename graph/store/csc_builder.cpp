#include "graph/store/csc_builder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/index.h"
#include "base/radix_sort.h"
#include "graph/store/buckets.h"
#include "graph/store/row_sorter.h"
#include "graph/workers.h"

namespace gnomon::graph {
namespace {

// An edge in a bucket: its destination, counted from the bucket's first, and its source.

/// For graphs of at most 2^32 vertices.
struct NarrowRecord {
  std::uint32_t row;
  std::uint32_t source;
  NarrowRecord() = default;
  NarrowRecord(std::uint32_t in_row, VertexId from, float)
      : row(in_row), source(static_cast<std::uint32_t>(from)) {}
};
struct NarrowWeightedRecord {
  std::uint32_t row;
  std::uint32_t source;
  float weight;
  NarrowWeightedRecord() = default;
  NarrowWeightedRecord(std::uint32_t in_row, VertexId from, float with)
      : row(in_row), source(static_cast<std::uint32_t>(from)), weight(with) {}
};
struct WideRecord {
  VertexId source;
  std::uint32_t row;
  float weight;
  WideRecord() = default;
  WideRecord(std::uint32_t in_row, VertexId from, float with) : source(from), row(in_row), weight(with) {}
};

template <class Record>
float weight_of(const Record& record) {
  if constexpr (requires { record.weight; }) {
    return record.weight;
  } else {
    return 1;
  }
}

using base::at;

/// Vertices of a bucket as a power of two. A bucket's rows should stay in a core's cache while they are
/// sorted, and the ends of all buckets while edges are distributed to them.
int bucket_bits(std::int64_t num_vertices) {
  constexpr std::int64_t max_buckets = 1024;
  constexpr std::int64_t min_rows = 1 << 12;
  const auto rows = std::max(min_rows, (num_vertices + max_buckets - 1) / max_buckets);
  return std::bit_width(static_cast<std::uint64_t>(rows - 1));
}

/// Calls put(source, destination, weight) for the edge after applying the options for direction and
/// self-loops.
template <class Put>
void put_entries(const Edge& edge, const EdgeOptions& options, Put put) {
  const VertexId source = options.reverse ? edge.destination : edge.source;
  const VertexId destination = options.reverse ? edge.source : edge.destination;
  if (source == destination) {
    if (options.self_loops == SelfLoops::keep) {
      put(source, destination, edge.weight);
    }
    return;
  }
  put(source, destination, edge.weight);
  if (options.undirected) {
    put(destination, source, edge.weight);
  }
}

/// The rows of a bucket: the end of each, and its edges.
struct Rows {
  std::vector<std::int64_t> ends;
  std::unique_ptr<VertexId[]> indices;
  std::unique_ptr<float[]> weights;  ///< null if unweighted

  std::int64_t edges() const { return ends.empty() ? 0 : ends.back(); }
  EdgeBuffers buffers() const { return {indices.get(), weights.get()}; }
};

template <class Record>
class CscBuilder {
 public:
  explicit CscBuilder(const CscRequest& request)
      : request_(request),
        bits_(bucket_bits(request.num_vertices)),
        memory_bytes_(memory_of(request.resources)),
        workers_(request.resources.threads),
        buckets_(((request.num_vertices - 1) >> bits_) + 1, memory_bytes_ / 2, request.resources.scratch) {}

  /// Checks the next edges of the stream and takes them into their buckets.
  void add(std::span<const Edge> edges) {
    constexpr std::int64_t min_chunk = 1 << 13;
    const std::int64_t chunks =
        std::clamp<std::int64_t>(std::ssize(edges) / min_chunk, 1, 4 * workers_.count());
    const auto chunk_of = [&](std::int64_t chunk) {
      const auto bound = [&](std::int64_t end) { return at(std::ssize(edges) * end / chunks); };
      return edges.subspan(bound(chunk), bound(chunk + 1) - bound(chunk));
    };
    places_.assign(at(chunks * buckets_.count()), 0);
    workers_.for_each(chunks, [&](std::int64_t chunk) {
      count(chunk_of(chunk), edges_ + (chunk_of(chunk).data() - edges.data()), places_of(chunk));
    });
    for (std::int64_t bucket = 0; bucket < buckets_.count(); ++bucket) {
      for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
        std::int64_t& place = places_of(chunk)[at(bucket)];
        place = buckets_.extend(bucket, place);
      }
    }
    workers_.for_each(chunks, [&](std::int64_t chunk) { distribute(chunk_of(chunk), places_of(chunk)); });
    buckets_.limit_memory();
    edges_ += std::ssize(edges);
  }

  std::int64_t edges() const { return edges_; }
  /// The edges of all rows before duplicates are merged.
  std::int64_t entries() const {
    std::int64_t sum = request_.options.self_loops == SelfLoops::add ? request_.num_vertices : 0;
    for (std::int64_t bucket = 0; bucket < buckets_.count(); ++bucket) {
      sum += buckets_.size(bucket);
    }
    return sum;
  }

  /// Sorts all rows into the buffers. Returns indptr.
  std::vector<std::int64_t> finish(const EdgeBuffers& buffers, const base::Progress& progress) {
    std::vector<std::int64_t> indptr(at(request_.num_vertices) + 1, 0);
    const std::int64_t total = entries();
    std::int64_t done = 0;
    for (std::int64_t first = 0; first < buckets_.count();) {
      const std::int64_t count = together(first);
      std::vector<Rows> rows(at(count));
      workers_.for_each(count, [&](std::int64_t i) { rows[at(i)] = sorted_rows(first + i); });
      std::vector<std::int64_t> begins(at(count) + 1, indptr[at(first << bits_)]);
      for (std::int64_t i = 0; i < count; ++i) {
        begins[at(i) + 1] = begins[at(i)] + rows[at(i)].edges();
        done += buckets_.size(first + i);
      }
      workers_.for_each(count, [&](std::int64_t i) {
        write(rows[at(i)], begins[at(i)], buffers, indptr.data() + ((first + i) << bits_) + 1);
      });
      first += count;
      base::report(progress, "sorting edges", done, total);
    }
    return indptr;
  }

 private:
  std::span<std::int64_t> places_of(std::int64_t chunk) {
    return std::span(places_).subspan(at(chunk * buckets_.count()), at(buckets_.count()));
  }

  void check(const Edge& edge, std::int64_t position) const {
    for (const VertexId id : {edge.source, edge.destination}) {
      if (id < 0 || id >= request_.num_vertices) {
        throw base::InputError(request_.where, "edge " + std::to_string(position) + ": vertex id " +
                                                   std::to_string(id) + " is out of range; use 0 to " +
                                                   std::to_string(request_.num_vertices - 1));
      }
    }
    if (!std::isfinite(edge.weight) || edge.weight < 0) {
      throw base::InputError(request_.where, "edge " + std::to_string(position) + ": weight " +
                                                 std::to_string(edge.weight) +
                                                 " is invalid; use finite numbers from 0");
    }
  }

  void count(std::span<const Edge> edges, std::int64_t position, std::span<std::int64_t> counts) const {
    for (const Edge& edge : edges) {
      check(edge, position++);
      put_entries(edge, request_.options,
                  [&](VertexId, VertexId destination, float) { ++counts[at(destination >> bits_)]; });
    }
  }

  void distribute(std::span<const Edge> edges, std::span<std::int64_t> places) {
    const VertexId in_bucket = (VertexId{1} << bits_) - 1;
    for (const Edge& edge : edges) {
      put_entries(edge, request_.options, [&](VertexId source, VertexId destination, float weight) {
        const std::int64_t bucket = destination >> bits_;
        buckets_.record(bucket, places[at(bucket)]++) =
            Record(static_cast<std::uint32_t>(destination & in_bucket), source, weight);
      });
    }
  }

  /// The number of buckets, from `first` on, that may be sorted concurrently.
  std::int64_t together(std::int64_t first) const {
    constexpr std::int64_t entry_bytes = sizeof(Record) + sizeof(VertexId) + sizeof(float);
    std::int64_t count = 0;
    for (std::int64_t bytes = 0; first + count < buckets_.count() && count < 4 * workers_.count(); ++count) {
      bytes += buckets_.size(first + count) * entry_bytes;
      if (bytes > memory_bytes_ / 2 && count > 0) {
        break;
      }
    }
    return count;
  }

  /// Whether sources are sorted in a whole bucket, instead of row by row.
  static constexpr bool sorts_buckets = std::is_same_v<Record, NarrowRecord>;

  /// Takes a bucket's edges, with the self-loops to add at the end.
  std::vector<Record> records_of(std::int64_t bucket, std::int64_t rows) {
    const bool adds_loops = request_.options.self_loops == SelfLoops::add;
    std::vector<Record> records;
    records.reserve(at(buckets_.size(bucket) + (adds_loops ? rows : 0)));
    buckets_.take(bucket, [&](std::span<const Record> chunk) {
      records.insert(records.end(), chunk.begin(), chunk.end());
    });
    for (std::int64_t row = 0; adds_loops && row < rows; ++row) {
      records.emplace_back(static_cast<std::uint32_t>(row), (bucket << bits_) + row, 1.0F);
    }
    return records;
  }

  /// Takes a bucket's edges as rows, by counting. These are in the order of the input, or sorted.
  Rows rows_of(std::int64_t bucket) {
    const std::int64_t count = std::min(request_.num_vertices - (bucket << bits_), std::int64_t{1} << bits_);
    auto records = records_of(bucket, count);
    if constexpr (sorts_buckets) {
      std::vector<Record> scratch;
      base::radix_sort(records, scratch,
                       std::bit_width(static_cast<std::uint64_t>(request_.num_vertices - 1)),
                       [](const Record& record) { return record.source; });
    }
    Rows rows;
    rows.ends.assign(at(count) + 1, 0);  // the count of row r at r + 1, its begin at r, and finally its end
    for (const Record& record : records) {
      ++rows.ends[record.row + std::size_t{1}];
    }
    std::inclusive_scan(rows.ends.begin(), rows.ends.end(), rows.ends.begin());
    rows.indices = std::make_unique_for_overwrite<VertexId[]>(records.size());
    if (request_.weighted) {
      rows.weights = std::make_unique_for_overwrite<float[]>(records.size());
    }
    for (const Record& record : records) {
      const auto place = at(rows.ends[record.row]++);
      rows.indices[place] = static_cast<VertexId>(record.source);
      if (rows.weights) {
        rows.weights[place] = weight_of(record);
      }
    }
    rows.ends.pop_back();
    return rows;
  }

  Rows sorted_rows(std::int64_t bucket) {
    Rows rows = rows_of(bucket);
    RowSorter sorter(rows.buffers(), request_.options.duplicates, request_.where);
    std::int64_t begin = 0;
    std::int64_t used = 0;
    for (std::int64_t& end : rows.ends) {
      used = sorts_buckets ? sorter.merge(begin, end, used) : sorter.sort(begin, end, used);
      begin = std::exchange(end, used);
    }
    return rows;
  }

  /// Copies rows to their place, and their ends to `ends`.
  static void write(const Rows& rows, std::int64_t begin, const EdgeBuffers& buffers, std::int64_t* ends) {
    if (buffers.narrow_indices != nullptr) {
      std::transform(rows.indices.get(), rows.indices.get() + rows.edges(), buffers.narrow_indices + begin,
                     [](VertexId id) { return static_cast<std::uint32_t>(id); });
    } else {
      std::copy_n(rows.indices.get(), rows.edges(), buffers.indices + begin);
    }
    if (rows.weights) {
      std::copy_n(rows.weights.get(), rows.edges(), buffers.weights + begin);
    }
    std::transform(rows.ends.begin(), rows.ends.end(), ends, [&](std::int64_t end) { return begin + end; });
  }

  const CscRequest& request_;
  int bits_;  ///< a bucket has 2^bits_ destinations
  std::int64_t memory_bytes_;
  Workers workers_;
  Buckets<Record> buckets_;
  std::int64_t edges_ = 0;
  /// By chunk of a block and bucket: first the number of records, then where the next one goes.
  std::vector<std::int64_t> places_;
};

template <class Record>
std::vector<std::int64_t> build(const CscRequest& request, const EdgeStream& edges,
                                const AllocateEdges& allocate, const base::Progress& progress) {
  CscBuilder<Record> builder(request);
  edges([&](std::span<const Edge> block) {
    builder.add(block);
    base::report(progress, "reading edges", builder.edges(), 0);
  });
  return builder.finish(allocate(builder.entries()), progress);
}

}  // namespace

std::vector<std::int64_t> build_csc(const CscRequest& request, const EdgeStream& edges,
                                    const AllocateEdges& allocate, const base::Progress& progress) {
  if (request.num_vertices > max_narrow_vertices) {
    return build<WideRecord>(request, edges, allocate, progress);
  }
  return request.weighted ? build<NarrowWeightedRecord>(request, edges, allocate, progress)
                          : build<NarrowRecord>(request, edges, allocate, progress);
}

}  // namespace gnomon::graph
