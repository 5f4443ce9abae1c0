#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/team.h"
#include "profiles/measure/probe.h"

namespace gnomon::profiles {

/// Probes of the host's cores without tensors: random cache lines, copies, gathers of rows from small and
/// huge pages, hash table inserts, branches; on one thread and on the whole team. Working sets are at most
/// `max_bytes`. The probes own their memory and share `team`, so they must run one at a time.
std::vector<Probe> host_probes(const std::shared_ptr<base::Team>& team, std::size_t max_bytes);

}  // namespace gnomon::profiles
