#pragma once

#include <string>

#include "plan/plan.h"

namespace gnomon::plan {

/// A plan and why it was chosen.
struct DefaultPlan {
  std::string name;  ///< of a preset
  std::string why;   ///< the reason, a clause without a full stop
};

/// The preset to train with when nothing was measured. Without a GPU, preparing and training share the cores:
/// with few cores, `device` is the best choice, as all cores work on the same mini-batch and none idles. A
/// single mini-batch does not keep many cores busy, and with a GPU the cores would be idle: in both cases
/// `gnomon` prepares on the cores and on the device.
DefaultPlan default_plan(const Cores& cores);

}  // namespace gnomon::plan
