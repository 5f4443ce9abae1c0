#include "plan/job.h"

#include "base/error.h"

namespace gnomon::plan {

void check(const Job& job, const std::string& where) {
  if (job.fanouts.empty() || job.fanouts.size() > 16) {
    throw base::InputError(where + ": fanouts", "must be one number a layer, 1 to 16 of them");
  }
  for (const int fanout : job.fanouts) {
    if (fanout == 0 || fanout < -1) {
      throw base::InputError(
          where + ": fanouts",
          std::to_string(fanout) + " draws nothing; use 1 to 512, or -1 for all neighbours");
    }
  }
  if (job.model == ModelKind::gat && job.hidden % job.heads != 0) {
    throw base::InputError(where + ": heads", std::to_string(job.heads) +
                                                  " does not divide hidden = " + std::to_string(job.hidden));
  }
}

}  // namespace gnomon::plan
