#include "runtime/disk/disk_features.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace gnomon::runtime {

RowReader::RowReader(const ArrayFile& array, std::int64_t row_bytes, std::shared_ptr<DiskCounts> counts)
    : array_(array),
      row_bytes_(static_cast<std::uint64_t>(row_bytes)),
      counts_(std::move(counts)),
      reader_({array.file}) {}

void RowReader::read(std::span<const graph::VertexId> vertices, std::span<const std::uint32_t> places,
                     std::byte* out) {
  order_.clear();
  for (const std::uint32_t place : places) {
    order_.emplace_back(static_cast<std::uint64_t>(vertices[place]), place);
  }
  std::sort(order_.begin(), order_.end());
  extents_.clear();
  for (const auto& [vertex, place] : order_) {
    extents_.push_back({array_.first_byte + vertex * row_bytes_, row_bytes_});
  }
  const ReadCounts before = reader_.counts();
  reader_.read(extents_, [&](std::size_t i, std::uint64_t from, std::span<const std::byte> bytes) {
    std::memcpy(out + order_[i].second * row_bytes_ + from, bytes.data(), bytes.size());
  });
  counts_->add_reads(reader_.counts() - before);
}

DiskFeatures::DiskFeatures(const graph::Graph& graph, int workers, std::shared_ptr<DiskCounts> counts)
    : array_(open_array(graph, "features.npy", static_cast<std::uint64_t>(graph.features.bytes()))),
      row_bytes_(graph.features.row_bytes()),
      counts_(std::move(counts)),
      readers_(static_cast<std::size_t>(std::max(1, workers))) {}

RowReader& DiskFeatures::reader_of(int worker) {
  auto& reader = readers_[static_cast<std::size_t>(worker)];
  if (!reader) {
    reader = std::make_unique<RowReader>(array_, row_bytes_, counts_);
  }
  return *reader;
}

void DiskFeatures::gather(std::int64_t position, int worker, BatchData& data) {
  const auto& vertices = data.batch.vertices;
  data.features.resize(vertices.size() * static_cast<std::size_t>(row_bytes_));
  std::byte* const out = data.features.data();
  RowReader& reader = reader_of(worker);
  if (cache_ != nullptr) {
    const auto read = [&](const Places& places) { reader.read(vertices, places, out); };
    const std::int64_t hits = cache_->serve(position, vertices, out, read);
    counts_->add_rows(std::ssize(vertices), hits);
    return;
  }
  Places all(vertices.size());
  std::iota(all.begin(), all.end(), 0U);
  reader.read(vertices, all, out);
}

void DiskFeatures::read_rows(std::span<const graph::VertexId> vertices, std::byte* out) {
  constexpr std::size_t max_rows = std::size_t{1} << 18;  // so that what sorts them stays small
  for (std::size_t first = 0; first < vertices.size(); first += max_rows) {
    const auto part = vertices.subspan(first, std::min(max_rows, vertices.size() - first));
    Places all(part.size());
    std::iota(all.begin(), all.end(), 0U);
    reader_of(0).read(part, all, out + first * static_cast<std::size_t>(row_bytes_));
  }
}

}  // namespace gnomon::runtime
