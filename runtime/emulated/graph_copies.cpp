#include "runtime/emulated/graph_copies.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/index.h"
#include "runtime/preparation/device_graph-inl.h"

namespace gnomon::runtime::emulated {

using base::at;

void GraphCopies::copy(std::shared_ptr<const PlacedGraph> graph, std::span<const std::uint8_t> wanted_rows) {
  auto structure = *graph;
  structure.graph.features.rows = 0;  // copied below
  plan::Plan resident;
  resident.topology = resident.features = plan::Home::device;
  auto copied = std::make_unique<DeviceGraph>();
  hardware_.run([&] {
    auto executor = hardware_.make_executor(1);
    const auto map = [&](const void* data, std::size_t bytes) { return hardware_.map(data, bytes); };
    *copied = place_on_device(executor, map, structure, resident);
  });
  copy_rows(graph->graph.features, wanted_rows, *copied);
  last_ = std::move(graph);
  const std::lock_guard lock(mutex_);
  copies_[last_.get()] = std::move(copied);
}

/// One copy, as of rows that the host has packed.
void GraphCopies::copy_rows(const graph::Features& features, std::span<const std::uint8_t> wanted_rows,
                            DeviceGraph& graph) {
  const auto source = features.data_bytes();
  const auto row_bytes = at(features.row_bytes());
  const auto memory = arena_->allocate(source.size());
  auto* const rows = static_cast<std::byte*>(memory.get());
  graph.owners.push_back(memory);
  graph.rows.all = rows;
  const auto wanted =
      wanted_rows.empty() ? features.rows : std::count(wanted_rows.begin(), wanted_rows.end(), 1);
  link_.copy(wanted * features.row_bytes(), [&] {
    for (std::size_t row = 0; row < at(features.rows); ++row) {
      if (wanted_rows.empty() || wanted_rows[row] != 0) {
        std::memcpy(rows + row * row_bytes, source.data() + row * row_bytes, row_bytes);
      }
    }
  });
}

std::unique_ptr<DeviceGraph> GraphCopies::take(const PlacedGraph* graph) {
  const std::lock_guard lock(mutex_);
  return std::move(copies_.extract(copies_.find(graph)).mapped());
}

void GraphCopies::clear() {
  copies_.clear();
  last_.reset();
}

}  // namespace gnomon::runtime::emulated
