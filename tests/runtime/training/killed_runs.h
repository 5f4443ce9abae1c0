#pragma once

#include <filesystem>
#include <string>

#include "graph/graph.h"
#include "runtime/training/trainer.h"

/// Runs that are killed and resumed, each by several processes, and the runs without an interruption that
/// must end with the same bits.
namespace gnomon::runtime {

enum class KilledStore { none, plain, by_parts };

struct KilledRun {
  const char* name;
  /// What process number 0, 1, … of a run trains: three epochs of 28 mini-batches, or of 47 with all vertices
  /// as seeds. Every process may take another plan and another device.
  TrainOptions (*options)(int process);
  /// What the run without an interruption trains, from memory unless the store is one by parts.
  TrainOptions (*reference)();
  /// Where the graph lies.
  KilledStore store = KilledStore::none;
  /// The order of the updates depends on timing: the reference replays the recorded one, and recorded numbers
  /// of hot vertices.
  bool replays = false;
};

/// Throws std::out_of_range.
const KilledRun& killed_run(const std::string& name);

/// The graph of a run, in memory or in a store in the directory, which the first process writes.
graph::Graph graph_of(const KilledRun& run, const std::filesystem::path& directory);
/// The graph of its reference.
graph::Graph graph_of_reference(const KilledRun& run, const std::filesystem::path& directory);

}  // namespace gnomon::runtime
