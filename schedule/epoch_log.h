#pragma once

#include <cstdint>
#include <vector>

namespace gnomon::schedule {

/// The record of one epoch that a policy has run. Times are seconds on the machine's clock.
struct EpochLog {
  std::vector<std::int64_t> trained;  ///< batches in the order of their updates
  std::int64_t cpu_batches = 0;       ///< number of batches that CPU workers prepared
  double begin_s = 0;
  double end_s = 0;             ///< after the last update
  double blocked_on_cpu_s = 0;  ///< time in which the device had no batch ready and waited for CPU workers
  double blocked_on_device_s =
      0;  ///< time in which the buffer of CPU batches was full, waiting for the device

  double seconds() const { return end_s - begin_s; }
};

}  // namespace gnomon::schedule
