#include "plan/default_plan.h"

namespace gnomon::plan {
namespace {

/// Up to this many cores share one mini-batch well.
constexpr int few_cores = 4;

}  // namespace

DefaultPlan default_plan(const Cores& cores) {
  if (!runs_on_cores(cores.device)) {
    return {"gnomon", "with a GPU, the CPU prepares mini-batches beside it"};
  }
  if (cores.count == 1) {
    return {"device", "no GPU, and nothing can overlap on one core"};
  }
  if (cores.count <= few_cores) {
    return {"device", "no GPU, and few cores do best when all share each mini-batch"};
  }
  return {"gnomon", "no GPU, and many cores do best when some prepare while others train"};
}

}  // namespace gnomon::plan
