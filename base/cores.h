#pragma once

#include <pthread.h>

#include <filesystem>
#include <vector>

namespace gnomon::base {

/// A logical CPU. The hardware threads of one physical core are several of these.
struct Core {
  int number = 0;  ///< the operating system's CPU number
  int node = 0;    ///< the NUMA node
  int sibling =
      0;  ///< the index among the hardware threads of its physical core, in the order of the numbers

  bool operator==(const Core&) const = default;
};

/// Returns the topology of the cores with these numbers (ascending), from the files below `root`/sys. Where
/// the system does not provide them, each core counts as a physical core on node 0.
std::vector<Core> describe_cores(const std::vector<int>& numbers, const std::filesystem::path& root = "/");

/// Returns the calling thread's CPU affinity as ascending core numbers, or {0} if it is unknown.
std::vector<int> allowed_core_numbers();

/// Returns the cores in the calling thread's CPU affinity.
std::vector<Core> allowed_cores();

/// Returns the number of physical cores among `cores`.
int physical_cores(const std::vector<Core>& cores);

/// Returns the core numbers in the order in which workers are pinned to them: the first hardware thread of
/// every physical core, then the second, and so on. Within each of these rounds the NUMA nodes alternate, so
/// that the load on their memory is even.
std::vector<int> pinning_order(const std::vector<Core>& cores);

/// Returns the number of `cores` on each NUMA node, in the order of the nodes.
std::vector<int> cores_of_nodes(const std::vector<Core>& cores);

/// Pins a thread to one core. Throws Failure if the system refuses.
void pin_thread(pthread_t thread, int core);

}  // namespace gnomon::base
