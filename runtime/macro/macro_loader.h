#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/progress.h"
#include "graph/graph.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "runtime/disk/block_reader.h"
#include "runtime/macro/macro_batch.h"
#include "runtime/macro/macro_layout.h"
#include "runtime/placement.h"

namespace gnomon::runtime {

/// Upper bounds of the memory that macro-batches take.
struct MacroBytes {
  std::int64_t batch = 0;    ///< the largest macro-batch of any epoch
  std::int64_t loading = 0;  ///< what is needed beside it until it is loaded
};

/// Makes the macro-batches of a plan. Implementations: runtime/macro/disk_parts.h, sampled_macro.h and
/// halo_parts.h; make_loader() chooses one. Macro-batches depend on graph, job, plan and epoch only, not on
/// the number of threads.
class MacroLoader {
 public:
  MacroLoader() = default;
  MacroLoader(const MacroLoader&) = delete;
  MacroLoader& operator=(const MacroLoader&) = delete;
  virtual ~MacroLoader() = default;

  /// The macro-batches of an epoch, without those that have no training vertices.
  virtual std::vector<MacroGroup> groups(std::int64_t epoch) const = 0;
  /// Loads a macro-batch of an epoch's layout. Called by one thread at a time. Throws base::Failure if data
  /// cannot be read.
  virtual std::shared_ptr<MacroBatch> load(const MacroLayout& layout, std::int64_t group,
                                           std::int64_t epoch) = 0;
  /// The reads from the disk since the last call.
  virtual ReadCounts take_reads() { return {}; }
  /// Known before anything is loaded. Nothing if the loader does not read the disk.
  virtual MacroBytes max_bytes() const { return {}; }
  /// Memory that the loader holds beside the macro-batches.
  virtual std::int64_t bytes() const { return 0; }
};

/// Throws base::InputError, which names the remedy, if the plan's macro-batches cannot be made from this
/// graph: it has more parts than vertices, the job samples by weights, or the data are on the disk and the
/// store is not ordered by the plan's parts or has fewer hubs than the plan requires.
void check_macro(const graph::Graph& graph, const plan::Job& job, const plan::Plan& plan);

/// Makes the loader of a plan. `placed` is the graph as samplers read it; with data on the disk only
/// `placed->graph` is used. `progress` reports the partitioning, if the store is not partitioned.
std::unique_ptr<MacroLoader> make_loader(std::shared_ptr<const PlacedGraph> placed, const plan::Job& job,
                                         const plan::Plan& plan, const base::Progress& progress = {});

}  // namespace gnomon::runtime
