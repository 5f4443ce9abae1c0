#pragma once

#include "profiles/profile.h"

namespace gnomon::sim {

/// The two halves of preparing a mini-batch, sampling and gathering: their times by a CPU worker and on the
/// device, those of the device's that read over the link, and their bytes.
struct Halves {
  double cpu_sample_s = 0, cpu_gather_s = 0;
  double device_sample_s = 0, device_sample_link_s = 0;
  double device_gather_s = 0, device_gather_link_s = 0;
  double structure_bytes = 0, feature_bytes = 0;

  /// Multiplies the times and the bytes of one half.
  void scale_sampling(double times, double bytes);
  void scale_gathering(double times, double bytes);
};

/// As measured, without caches. A half that was not measured takes the share of the whole time that its bytes
/// are of all bytes.
Halves halves_of(const profiles::WorkloadProfile& workload);

}  // namespace gnomon::sim
