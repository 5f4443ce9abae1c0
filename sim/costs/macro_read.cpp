#include "sim/costs/macro_read.h"

#include "base/index.h"
#include "graph/partition/macro_batches.h"
#include "kernels/cpu/sample/topology.h"
#include "sim/costs/memory.h"

namespace gnomon::sim {
namespace {

using base::at;
using profiles::WorkloadProfile;

bool has_parts_of(const WorkloadProfile& workload, const plan::Macro& macro) {
  const auto& parts = workload.store_parts;
  return parts && parts->partitioner == macro.partitioner && std::ssize(parts->vertices) == macro.partitions;
}

/// The size of one part, with the row pointer of its end.
MacroRead part_read(const WorkloadProfile& workload, std::int32_t part) {
  const auto& parts = *workload.store_parts;
  const auto vertices = static_cast<double>(parts.vertices[at(part)]);
  const double features = vertices * static_cast<double>(workload.feature_row_bytes);
  const double lists = static_cast<double>(parts.edges[at(part)]) *
                       static_cast<double>(kernels::cpu::index_bytes(workload.vertices));
  return {.vertices = vertices,
          .bytes = sizeof(std::int64_t) * (vertices + 1) + lists + features,
          .feature_bytes = features,
          .train_vertices = static_cast<double>(parts.train_vertices[at(part)])};
}

}  // namespace

MacroRead macro_read(const WorkloadProfile& workload, const plan::Macro& macro) {
  const double part = static_cast<double>(macro.resident) / macro.partitions;
  const double features = features_bytes(workload);
  return {.vertices = part * static_cast<double>(workload.vertices),
          .bytes = part * (stored_topology_bytes(workload) + features),
          .feature_bytes = part * features,
          .train_vertices = part * static_cast<double>(workload.train_vertices)};
}

std::vector<MacroRead> macro_reads(const WorkloadProfile& workload, const plan::Macro& macro,
                                   std::uint64_t epoch) {
  if (!has_parts_of(workload, macro)) {
    const auto count = (macro.partitions + macro.resident - 1) / macro.resident;
    return std::vector<MacroRead>(at(count), macro_read(workload, macro));
  }
  std::vector<MacroRead> reads;
  for (const auto& group : graph::macro_batches(macro.partitions, macro.resident, workload.job.seed, epoch)) {
    auto& read = reads.emplace_back();
    for (const auto part : group) {
      const auto each = part_read(workload, part);
      read.vertices += each.vertices;
      read.bytes += each.bytes;
      read.feature_bytes += each.feature_bytes;
      read.train_vertices += each.train_vertices;
    }
  }
  return reads;
}

}  // namespace gnomon::sim
