#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/team.h"
#include "profiles/measure/probe.h"

namespace gnomon::profiles {

/// What the host's cores do without tensors: random lines, copies, gathers of rows from small and from huge
/// pages, inserts, branches; on one thread and on all of the team's. Working sets are at most `max_bytes`.
/// The probes own their memory, and use `team` one after the other.
std::vector<Probe> host_probes(const std::shared_ptr<base::Team>& team, std::size_t max_bytes);

}  // namespace gnomon::profiles
