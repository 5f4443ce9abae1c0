#pragma once

#include <filesystem>
#include <string>

#include "graph/partition/parted_store.h"
#include "graph/store/store.h"
#include "runtime/macro/parts_of_plan.h"
#include "tests/fixtures/graphs.h"
#include "tests/runtime/test_runs.h"

namespace gnomon::runtime {

/// Writes a store of `graph` that is ordered by the parts of `macro`, and opens it.
inline graph::Graph parted_graph(const graph::Graph& graph, const plan::Macro& macro,
                                 const std::filesystem::path& directory) {
  const auto request = request_of(macro);
  graph::PartedStoreWriter(directory).commit(graph, graph::partition(graph, request), request,
                                             {.ratio = 0.1, .steps = 2});
  return graph::open_store(directory);
}

/// A preset with macro-batches that fits the small graphs of tests.
inline plan::Plan macro_preset(const std::string& name, int workers = 2) {
  auto plan = plan::find_plan(name);
  plan.workers = workers;
  plan.device_threads = 1;
  plan.macro.partitions = 8;
  plan.macro.resident = 2;
  return plan;
}

}  // namespace gnomon::runtime
