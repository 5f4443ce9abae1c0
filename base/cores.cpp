#include "base/cores.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>

#include "base/error.h"

namespace gnomon::base {
namespace {

namespace fs = std::filesystem;

int number_in(const fs::path& file, int otherwise) {
  std::ifstream stream(file);
  int number = 0;
  return stream >> number ? number : otherwise;
}

/// Parses a list of the form "0-2,5" into {0, 1, 2, 5}.
std::vector<int> numbers_in_list(const fs::path& file) {
  std::vector<int> numbers;
  std::ifstream stream(file);
  for (std::string part; std::getline(stream, part, ',');) {
    std::istringstream range(part);
    int first = 0;
    if (!(range >> first)) {
      continue;
    }
    int last = first;
    if (range.get() == '-') {
      range >> last;
    }
    for (int number = first; number <= last; ++number) {
      numbers.push_back(number);
    }
  }
  return numbers;
}

/// Returns the NUMA node of each core that the system assigns to a node.
std::map<int, int> nodes_by_core(const fs::path& root) {
  std::map<int, int> nodes;
  const auto directory = root / "sys/devices/system/node";
  for (const int node : numbers_in_list(directory / "online")) {
    for (const int core : numbers_in_list(directory / ("node" + std::to_string(node)) / "cpulist")) {
      nodes[core] = node;
    }
  }
  return nodes;
}

}  // namespace

std::vector<Core> describe_cores(const std::vector<int>& numbers, const std::filesystem::path& root) {
  const auto nodes = nodes_by_core(root);
  std::map<std::tuple<int, int>, int> seen;  // number of hardware threads by package and physical core
  std::vector<Core> cores;
  for (const int number : numbers) {
    const auto topology = root / "sys/devices/system/cpu" / ("cpu" + std::to_string(number)) / "topology";
    const std::tuple physical{number_in(topology / "physical_package_id", -1),
                              number_in(topology / "core_id", -1 - number)};
    const auto node = nodes.find(number);
    cores.push_back({number, node == nodes.end() ? 0 : node->second, seen[physical]++});
  }
  return cores;
}

std::vector<int> allowed_core_numbers() {
  constexpr int max_cores = 1 << 14;  // sched_getaffinity fails if the set is smaller than the kernel's
  std::vector<int> numbers;
  cpu_set_t* set = CPU_ALLOC(max_cores);
  const std::size_t bytes = CPU_ALLOC_SIZE(max_cores);
  if (set != nullptr && ::sched_getaffinity(0, bytes, set) == 0) {
    for (int core = 0; core < max_cores; ++core) {
      if (CPU_ISSET_S(core, bytes, set)) {
        numbers.push_back(core);
      }
    }
  }
  CPU_FREE(set);
  return numbers.empty() ? std::vector<int>{0} : numbers;
}

std::vector<Core> allowed_cores() { return describe_cores(allowed_core_numbers()); }

int physical_cores(const std::vector<Core>& cores) {
  return static_cast<int>(
      std::count_if(cores.begin(), cores.end(), [](const Core& core) { return core.sibling == 0; }));
}

std::vector<int> pinning_order(const std::vector<Core>& cores) {
  // Sorting by the rank within (sibling, node) before the node makes the nodes alternate.
  std::map<std::tuple<int, int>, int> seen;
  std::vector<std::tuple<int, int, int, int>> keys;
  for (const Core& core : cores) {
    keys.emplace_back(core.sibling, seen[{core.sibling, core.node}]++, core.node, core.number);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<int> order;
  for (const auto& key : keys) {
    order.push_back(std::get<3>(key));
  }
  return order;
}

std::vector<int> cores_of_nodes(const std::vector<Core>& cores) {
  std::map<int, int> counts;
  for (const Core& core : cores) {
    ++counts[core.node];
  }
  std::vector<int> result;
  for (const auto& [node, count] : counts) {
    result.push_back(count);
  }
  return result;
}

void pin_thread(pthread_t thread, int core) {
  cpu_set_t* set = CPU_ALLOC(core + 1);
  const std::size_t bytes = CPU_ALLOC_SIZE(core + 1);
  if (set == nullptr) {
    throw Failure("core " + std::to_string(core), "cannot pin a thread: out of memory");
  }
  CPU_ZERO_S(bytes, set);
  CPU_SET_S(core, bytes, set);
  const int error = ::pthread_setaffinity_np(thread, bytes, set);
  CPU_FREE(set);
  if (error != 0) {
    throw Failure("core " + std::to_string(core),
                  std::string("cannot pin a thread: ") + std::strerror(error));
  }
}

}  // namespace gnomon::base
