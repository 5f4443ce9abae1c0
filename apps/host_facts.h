#pragma once

#include <string>
#include <vector>

namespace gnomon::apps {

/// Facts about this machine that the system knows without measuring.
struct HostFacts {
  std::string cpu;
  int cores = 1;  ///< that this process may run on
  int physical_cores = 1;
  std::vector<int> node_cores;  ///< of those, on each NUMA node
  double memory_bytes = 0;
  std::vector<std::string> gpus;  ///< as the NVIDIA driver names them
};

HostFacts host_facts();

}  // namespace gnomon::apps
