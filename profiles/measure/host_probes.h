#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/team.h"
#include "profiles/measure/probe.h"

namespace gnomon::profiles {

/// Largest sizes of probes; memory that does not hold them reduces them.
struct ProbeSizes {
  std::size_t max_bytes = std::size_t{256} << 20;  ///< of a working set, at least 1 MiB
  std::size_t max_copy_bytes = std::size_t{64} << 20;
  std::size_t max_vertices = std::size_t{256} << 10;  ///< in a hash table
};

/// Probes of the host's cores without tensors: random cache lines, copies, gathers of rows from small and
/// huge pages, hash table inserts, branches; on one thread and on the whole team. The probes own their memory
/// and share `team`, so they must run one at a time.
std::vector<Probe> host_probes(const std::shared_ptr<base::Team>& team, const ProbeSizes& sizes);

/// Random cache lines, on one thread and on the whole team, and copies on one thread, at one size each: quick
/// to set up and to run.
std::vector<Probe> check_probes(const std::shared_ptr<base::Team>& team);
inline constexpr std::size_t checked_lines_bytes = std::size_t{32} << 20;
inline constexpr std::size_t checked_copy_bytes = std::size_t{4} << 20;

}  // namespace gnomon::profiles
