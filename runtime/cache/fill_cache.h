#pragma once

#include "base/progress.h"
#include "graph/graph.h"
#include "kernels/device/gather.h"
#include "runtime/cache/cache_choice.h"
#include "runtime/preparation/device_graph.h"

namespace gnomon::runtime {

/// Frees the caches' memory; all data is then read from its home.
void drop_cache(DeviceGraph& graph);

/// Copies the rows and lists of `content` into the device's memory, where `graph` reads them from then on.
/// Existing caches are dropped first. `host` is the graph's structure in host memory. Samplers constructed
/// earlier for `graph` must no longer be used. The executor may still be copying when the function returns.
template <class Executor>
void fill_cache(Executor& executor, DeviceGraph& graph, const graph::Graph& host, const CacheContent& content,
                kernels::device::Reads reads, const base::Progress& progress);

}  // namespace gnomon::runtime
