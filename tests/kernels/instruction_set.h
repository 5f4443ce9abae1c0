#pragma once

#include <cstdint>
#include <mutex>

#include "hwy/targets.h"

namespace gnomon::kernels {

/// Makes the kernels of this process use one of Highway's targets (HWY_AVX2, …), or the machine's best where
/// it has not that one, and says whether it has. For one test after another, not while others compute.
inline bool choose_instruction_set(std::int64_t target) {
  static std::mutex mutex;
  static std::int64_t chosen = 0;
  static bool has = false;
  const std::lock_guard lock(mutex);
  if (chosen != target) {
    hwy::SetSupportedTargetsForTest(0);
    has = (hwy::SupportedTargets() & target) != 0;
    if (has) {
      hwy::SetSupportedTargetsForTest(target);
    }
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    chosen = target;
  }
  return has;
}

}  // namespace gnomon::kernels
