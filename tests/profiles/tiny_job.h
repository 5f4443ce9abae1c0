#pragma once

#include "plan/job.h"

namespace gnomon::profiles {

/// Of two layers, whose mini-batches take well below a millisecond.
inline plan::Job tiny_job(int batch_size) {
  plan::Job job;
  job.fanouts = {4, 3};
  job.batch_size = batch_size;
  job.hidden = 8;
  return job;
}

}  // namespace gnomon::profiles
