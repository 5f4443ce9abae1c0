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

/// Makes the macro-batches of a plan. Implementations: runtime/macro/disk_parts.h, sampled_macro.h and
/// halo_parts.h; make_loader() chooses one. All are pure functions of graph, job, plan and epoch, whatever
/// the number of threads.
class MacroLoader {
 public:
  MacroLoader() = default;
  MacroLoader(const MacroLoader&) = delete;
  MacroLoader& operator=(const MacroLoader&) = delete;
  virtual ~MacroLoader() = default;

  /// The macro-batches of an epoch, those without training vertices left out.
  virtual std::vector<MacroGroup> groups(std::int64_t epoch) const = 0;
  /// Loads a macro-batch of an epoch's layout. Called by one thread at a time. Throws base::Failure if data
  /// cannot be read.
  virtual std::shared_ptr<MacroBatch> load(const MacroLayout& layout, std::int64_t group,
                                           std::int64_t epoch) = 0;
  /// What was read from the disk since the last call.
  virtual ReadCounts take_reads() { return {}; }
  /// Memory that it keeps beside the macro-batches.
  virtual std::int64_t bytes() const { return 0; }
};

/// Throws base::InputError, which names what to change, if the plan's macro-batches cannot be made of this
/// graph: there are more parts than vertices, the job draws by weights, or data are to be read from the disk
/// and the store is not ordered by the plan's parts or has fewer hubs than the plan asks for.
void check_macro(const graph::Graph& graph, const plan::Job& job, const plan::Plan& plan);

/// `placed` is the graph as samplers read it; only its graph is used where data stay on the disk. `progress`
/// is told how far the graph is divided, if its store is not.
std::unique_ptr<MacroLoader> make_loader(std::shared_ptr<const PlacedGraph> placed, const plan::Job& job,
                                         const plan::Plan& plan, const base::Progress& progress = {});

}  // namespace gnomon::runtime
