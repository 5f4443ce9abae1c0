#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "graph/graph.h"
#include "kernels/device/gather-inl.h"

namespace gnomon::kernels {

/// The device's gather by `World::executor`, which reads host memory, for GatherContract. With a cache every
/// third row is read from it alone.
template <class World, device::Reads How, bool Cached, bool ByPlace>
struct GatherOnDevice {
  static std::vector<std::byte> rows(const graph::Features& features,
                                     const std::vector<graph::VertexId>& vertices) {
    const auto row_bytes = static_cast<std::size_t>(features.row_bytes());
    std::vector<std::byte> all(features.data, features.data + features.rows * features.row_bytes());
    std::vector<std::byte> cached;
    std::vector<std::int32_t> slots(static_cast<std::size_t>(features.rows), -1);
    for (graph::VertexId vertex = 0; Cached && vertex < features.rows; vertex += 3) {
      slots[static_cast<std::size_t>(vertex)] = static_cast<std::int32_t>(vertex / 3);
      const auto row = all.begin() + vertex * features.row_bytes();
      cached.insert(cached.end(), row, row + features.row_bytes());
      std::fill(row, row + features.row_bytes(), std::byte{0xEE});
    }
    std::vector<std::byte> out(vertices.size() * row_bytes);
    World world;
    const device::Rows table{all.data(), features.row_bytes(), Cached ? slots.data() : nullptr,
                             cached.data()};
    if (ByPlace) {
      device::gather_rows_by_place(world.executor, table, features.rows, How, vertices.data(),
                                   std::ssize(vertices), out.data());
    } else {
      device::gather_rows(world.executor, table, How, vertices.data(), std::ssize(vertices), out.data());
    }
    return out;
  }
  static std::vector<std::int64_t> labels(const std::vector<std::int32_t>& labels_of,
                                          const std::vector<graph::VertexId>& vertices) {
    std::vector<std::int64_t> out(vertices.size());
    World world;
    device::gather_labels(world.executor, labels_of.data(), vertices.data(), std::ssize(vertices),
                          out.data());
    return out;
  }
};

}  // namespace gnomon::kernels
