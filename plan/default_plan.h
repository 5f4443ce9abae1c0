#pragma once

#include <string>

#include "plan/plan.h"

namespace gnomon::plan {

/// A plan and why it is taken.
struct DefaultPlan {
  std::string name;  ///< of a preset
  std::string why;   ///< half a sentence
};

/// The preset to train with where nothing was measured. Without a GPU, preparing and training share the
/// cores: on a few of them `device` is the best, as all cores work on the same mini-batch and none waits for
/// another. On many cores a single mini-batch no longer keeps all of them busy, and with a GPU the cores
/// would be idle: there `gnomon` prepares on the cores and on the device.
DefaultPlan default_plan(const Cores& cores);

}  // namespace gnomon::plan
