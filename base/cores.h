#pragma once

#include <pthread.h>

#include <filesystem>
#include <vector>

namespace gnomon::base {

/// One core as the system counts them; several hardware threads of a physical core are several of these.
struct Core {
  int number = 0;   ///< the system's
  int node = 0;     ///< of memory (NUMA) that it is near to
  int sibling = 0;  ///< how many earlier ones there are on the same physical core

  bool operator==(const Core&) const = default;
};

/// What the system says of the cores with these numbers, ascending. Where it says nothing (no /sys below
/// `root`), all are on node 0 and physical.
std::vector<Core> describe_cores(const std::vector<int>& numbers, const std::filesystem::path& root = "/");

/// The numbers of the cores that the calling thread may run on, ascending; {0} where the system does not say.
std::vector<int> allowed_core_numbers();

/// The cores that the calling thread may run on.
std::vector<Core> allowed_cores();

/// Physical cores among them.
int physical_cores(const std::vector<Core>& cores);

/// The numbers of `cores` in the order in which workers take them: first one hardware thread of each physical
/// core, from the nodes in turn so that each node's memory serves as many, then the others likewise.
std::vector<int> pinning_order(const std::vector<Core>& cores);

/// How many of `cores` lie on each node, by node.
std::vector<int> cores_of_nodes(const std::vector<Core>& cores);

/// Lets a thread run on that core only. Throws Failure when the system refuses.
void pin_thread(pthread_t thread, int core);

}  // namespace gnomon::base
