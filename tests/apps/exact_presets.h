#pragma once

#include <algorithm>
#include <cstddef>

#include "plan/disk_plans.h"
#include "plan/plan.h"

namespace gnomon::apps {

/// The number of exact presets that the host executes with the graph in memory.
inline std::size_t exact_presets() {
  const auto presets = plan::runnable_presets_in_memory();
  return static_cast<std::size_t>(
      std::count_if(presets.begin(), presets.end(), [](const plan::Plan& plan) { return plan.exact; }));
}

}  // namespace gnomon::apps
