#include "runtime/macro/macro_loader.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "graph/partition/hubs.h"
#include "graph/partition/parts.h"
#include "runtime/macro/disk_parts.h"
#include "runtime/macro/halo_parts.h"
#include "runtime/macro/parts_of_plan.h"
#include "runtime/macro/sampled_macro.h"

namespace gnomon::runtime {
namespace {

bool reads_parts(const plan::Plan& plan) { return plan.features == plan::Home::disk; }

void check_stored_parts(const graph::Graph& graph, const plan::Plan& plan, const std::string& where) {
  if (!has_parts_of(graph, plan.macro)) {
    throw base::InputError(where + ": macro.partitions",
                           "needs a store whose vertices are ordered by " +
                               std::to_string(plan.macro.partitions) + " parts of method \"" +
                               std::string(base::name_of(plan.macro.partitioner)) +
                               "\"; make one with: " + partition_command(graph, plan.macro));
  }
  const auto hubs = graph::num_hubs(plan.macro.hub_ratio, graph.num_vertices());
  if (hubs > std::ssize(graph.parts->hubs)) {
    throw base::InputError(where + ": macro.hub_ratio",
                           "needs " + std::to_string(hubs) + " hubs, and the store has " +
                               std::to_string(graph.parts->hubs.size()) +
                               "; use fewer, or make a store with: " + partition_command(graph, plan.macro) +
                               " --hub-ratio " + std::to_string(plan.macro.hub_ratio));
  }
}

}  // namespace

void check_macro(const graph::Graph& graph, const plan::Job& job, const plan::Plan& plan) {
  if (plan.schedule != plan::Schedule::macro_batch) {
    return;
  }
  const std::string where = "plan " + plan.name;
  if (job.weighted) {
    throw base::InputError(where + ": schedule",
                           "\"macro_batch\" samples neighbours uniformly, but the job samples by weight; use "
                           "another schedule");
  }
  if (plan.embeddings.reuse == plan::Reuse::halo && job.norm == plan::Norm::batch) {
    throw base::InputError(
        where + ": embeddings.reuse",
        "\"halo\" cannot be combined with norm \"batch\", whose statistics would include vertices that "
        "are not computed; use norm \"layer\" or \"none\"");
  }
  if (plan.macro.partitions > graph.num_vertices()) {
    throw base::InputError(where + ": macro.partitions",
                           std::to_string(plan.macro.partitions) + " is more than the graph's " +
                               std::to_string(graph.num_vertices()) + " vertices");
  }
  if (reads_parts(plan)) {
    check_stored_parts(graph, plan, where);
  }
}

std::unique_ptr<MacroLoader> make_loader(std::shared_ptr<const PlacedGraph> placed, const plan::Job& job,
                                         const plan::Plan& plan, const base::Progress& progress) {
  if (reads_parts(plan)) {
    return std::make_unique<DiskParts>(placed->graph, job, plan);
  }
  if (plan.embeddings.reuse == plan::Reuse::halo) {
    return std::make_unique<HaloParts>(std::move(placed), job, plan, progress);
  }
  return std::make_unique<SampledMacro>(std::move(placed), job, plan);
}

}  // namespace gnomon::runtime
