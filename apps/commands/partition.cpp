#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "apps/commands/commands.h"
#include "apps/flags/import_flags.h"
#include "apps/flags/number_checks.h"
#include "apps/flags/size_flag.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/text/output.h"
#include "apps/text/partition_text.h"
#include "base/error.h"
#include "base/stop.h"
#include "graph/partition/parted_store.h"
#include "graph/partition/report.h"
#include "graph/partition/stored_partition.h"
#include "graph/store/checked_store.h"

namespace gnomon::apps {
namespace {

struct PartitionFlags {
  std::string data;
  std::string method = "gnn_aware";
  std::string from;
  std::string output;
  std::string store;
  graph::PartitionRequest request;
  std::optional<int> passes;
  std::optional<double> max_load;
  graph::MacroRequest macro;
  std::optional<int> resident;
  graph::Resources resources;
  bool json = false;
};

graph::MacroRequest macro_of(const PartitionFlags& options, int parts) {
  auto macro = options.macro;
  macro.resident = options.resident.value_or(std::min(macro.resident, parts));
  return macro;
}

graph::PartitionRequest request_of(const PartitionFlags& options) {
  auto request = options.request;
  request.method = base::value_of<graph::PartitionMethod>("--method", options.method);
  if ((options.passes || options.max_load) && request.method != graph::PartitionMethod::gnn_aware) {
    throw base::InputError(options.passes ? "--passes" : "--max-load",
                           "has no effect on method \"" + options.method + "\"; use \"gnn_aware\"");
  }
  request.passes = options.passes.value_or(request.passes);
  request.max_load = options.max_load;
  return request;
}

/// Divides the graph, and writes the parts if asked to.
graph::StoredPartition make(const graph::Graph& graph, const PartitionFlags& options,
                            const graph::PartitionRequest& request, const base::Progress& progress) {
  graph::check_resident(macro_of(options, request.parts), request.parts);
  std::optional<graph::PartitionWriter> writer;
  if (!options.output.empty()) {
    writer.emplace(options.output);
  }
  auto part_of = graph::partition(graph, request, progress);
  if (writer) {
    writer->commit(graph, request, part_of);
  }
  return {request, std::move(part_of)};
}

/// As many hubs as are asked for, and at least the usual number.
graph::HubRequest hubs_of(const graph::MacroRequest& macro) {
  graph::HubRequest hubs;
  hubs.ratio = std::max(hubs.ratio, macro.hub_ratio);
  hubs.steps = macro.hub_steps;
  return hubs;
}

void partition(const PartitionFlags& options) {
  const auto request = request_of(options);
  const auto graph = graph::open_store(options.data);
  graph::validate_once(graph, false);
  std::optional<graph::PartedStoreWriter> store;
  if (!options.store.empty()) {
    store.emplace(options.store);
  }
  graph::PartitionReport report;
  {
    ProgressBar bar;
    const auto progress = base::stoppable(bar.progress(), &stop_on_interrupt());
    const auto parts = options.from.empty() ? make(graph, options, request, progress)
                                            : graph::read_partition(options.from, graph);
    if (store) {
      store->commit(graph, parts.part_of, parts.request, hubs_of(options.macro), progress, options.resources);
    }
    report = graph::report_on(graph, parts.part_of, parts.request, macro_of(options, parts.request.parts),
                              progress);
  }
  const auto simulated = simulated_reads(graph, report);
  options.json ? print_json(partition_document(report, simulated))
               : void(std::cout << partition_text(report, simulated));
}

}  // namespace

Action add_partition(CLI::App& app) {
  const auto options = std::make_shared<PartitionFlags>();
  auto& request = options->request;
  app.add_option("DATA", options->data, "Graph store")->required();
  auto* from = app.add_option("--from", options->from,
                              "Describe the partition in this directory instead of making one");
  const auto add = [&](const char* name, auto& value, const char* help) {
    return app.add_option(name, value, help)->excludes(from);
  };
  add("--parts", request.parts, "Number of parts")->check(in_range(1, 1 << 30));
  add("--method", options->method,
      "random, metis, or gnn_aware: a streaming partitioner that balances the labels of training vertices");
  add("--passes", options->passes, "gnn_aware: streaming passes over the vertices")->check(in_range(1, 1000));
  add("--max-load", options->max_load,
      "gnn_aware: maximum number of vertices of one label in a part, relative to an equal share\n(default: "
      "no limit)")
      ->check(in_range(1.0, 1e9));
  add("--seed", request.seed,
      "Random seed of the methods random and metis, and of the order of macro-batches");
  add("-o,--output", options->output, "Write the partition to this new directory");
  app.add_option(
      "--store", options->store,
      "Write the graph with its vertices ordered by part to this store, a new directory: plans with "
      "macro-batches read it part by part");
  add_size(app, "--host-memory", options->resources.memory_bytes, std::string(conversion_memory_help));
  app.add_option("--resident", options->resident, "Parts per macro-batch (default: 4, or all)");
  app.add_option("--hub-ratio", options->macro.hub_ratio,
                 "Share of the vertices (hubs) that are always in memory")
      ->check(in_range(0.0, 1.0));
  app.add_option("--hub-steps", options->macro.hub_steps,
                 "Length of the random walks that select hubs: the number of layers of the model")
      ->check(in_range(1, 64));
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] { partition(*options); };
}

}  // namespace gnomon::apps
