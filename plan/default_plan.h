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
/// single mini-batch does not keep many cores busy: then `gnomon` prepares on the cores and on the device. On
/// a GPU `dsp` was the fastest exact preset or second to `pagraph` (bench/results/gpu.json, gpu_h100.json),
/// and needs no cores.
DefaultPlan default_plan(const Cores& cores);

}  // namespace gnomon::plan
