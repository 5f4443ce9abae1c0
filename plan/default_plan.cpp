#include "plan/default_plan.h"

namespace gnomon::plan {
namespace {

/// The number of cores up to which sharing one mini-batch scales well.
constexpr int few_cores = 4;

}  // namespace

DefaultPlan default_plan(const Cores& cores) {
  if (!runs_on_cores(cores.device)) {
    return {"gnomon", "with a GPU, the CPU and the GPU both prepare mini-batches"};
  }
  if (cores.count == 1) {
    return {"device", "no GPU, and a single core cannot overlap stages"};
  }
  if (cores.count <= few_cores) {
    return {"device", "no GPU, and a few cores are fastest when all share each mini-batch"};
  }
  return {"gnomon", "no GPU, and many cores are fastest when some prepare mini-batches while others train"};
}

}  // namespace gnomon::plan
