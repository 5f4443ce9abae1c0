#include "apps/host_facts.h"

#include <unistd.h>

#include "base/cores.h"
#include "base/host.h"

namespace gnomon::apps {

HostFacts host_facts() {
  const auto cores = base::allowed_cores();
  return {.cpu = base::cpu_model(),
          .cores = static_cast<int>(cores.size()),
          .physical_cores = base::physical_cores(cores),
          .node_cores = base::cores_of_nodes(cores),
          .memory_bytes =
              static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE)),
          .gpus = base::gpu_models()};
}

}  // namespace gnomon::apps
