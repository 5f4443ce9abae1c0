#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/document.h"

namespace gnomon::profiles {

/// The version of the probes: increased when a probe measures something else under the same name.
inline constexpr int probes_version = 1;

/// Identifies a machine for the machine store: the hardware and the settings that its speeds depend on.
struct MachineKey {
  std::string cpu;                             ///< model name
  int cores = 1;                               ///< usable: affinity and CPU quota
  int physical_cores = 0;                      ///< among those in the affinity
  std::vector<int> node_cores;                 ///< cores of each NUMA node
  std::string kernel;                          ///< release
  std::string huge_pages;                      ///< transparent huge pages: "always", "madvise", "never"
  std::optional<double> quota_cores{};         ///< CPU limit of the control group
  std::optional<double> memory_limit_bytes{};  ///< memory limit of the control group
  std::string gpu;                             ///< model of the measured GPU; empty: none was measured
  int probes = probes_version;                 ///< not part of the machine's identity

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("cpu", self.cpu);
    f.required("cores", self.cores, base::Range{1, 4096});
    f("physical_cores", self.physical_cores, base::Range{0, 4096});
    f("node_cores", self.node_cores, base::Range{0, 4096});
    f("kernel", self.kernel);
    f("huge_pages", self.huge_pages);
    f("quota_cores", self.quota_cores, base::non_negative);
    f("memory_limit_bytes", self.memory_limit_bytes, base::non_negative);
    f("gpu", self.gpu);
    f("probes", self.probes, base::Range{0, 1e6});
  }
  bool operator==(const MachineKey&) const = default;
};

/// The key of this machine; `with_gpu`: of its cores and its first GPU.
MachineKey machine_key(bool with_gpu = false);

/// Whether two keys identify one machine, apart from its GPU if `any_gpu`.
bool is_same_machine(const MachineKey& a, const MachineKey& b, bool any_gpu = false);

/// The file name of a machine's document: readable, and different for different machines.
std::string file_name(const MachineKey& key);

/// "AMD EPYC, 2 cores, 2 physical, …".
std::string text_of(const MachineKey& key);

}  // namespace gnomon::profiles
