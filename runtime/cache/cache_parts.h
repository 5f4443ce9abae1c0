#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "runtime/cache/cache_choice.h"

namespace gnomon::runtime {

/// Distributes a cache's entries over linked devices with `capacities` bytes each: in the order of `content`,
/// rows first, each to the device with the most free capacity, ties to the first. Thus the hottest entries
/// are spread evenly. Entries that fit on no device are omitted. Returns one part per device.
std::vector<CacheContent> distribute(const CacheContent& content, const graph::Graph& graph,
                                     const EntryCosts& sizes, std::vector<std::int64_t> capacities);

}  // namespace gnomon::runtime
