#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "runtime/cache/cache_choice.h"

namespace gnomon::runtime {

/// Deals a cache's entries to linked devices that can hold `rooms` bytes each: in the order of `content`,
/// rows first, each to the device with the most room left, of equal ones the first. So the hottest entries
/// are spread evenly. Entries for which no device has room are left out. Returns one part for each device.
std::vector<CacheContent> deal(const CacheContent& content, const graph::Graph& graph,
                               const EntryCosts& sizes, std::vector<std::int64_t> rooms);

}  // namespace gnomon::runtime
