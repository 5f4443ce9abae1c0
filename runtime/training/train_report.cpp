#include "runtime/training/train_report.h"

namespace gnomon::runtime {

void append(EpochReport& epoch, const StretchReport& stretch) {
  const bool is_first = epoch.timeline.empty();
  const double shift_s = is_first ? 0 : epoch.log.end_s - stretch.log.begin_s;
  for (auto span : stretch.timeline) {
    span.begin_s += shift_s;
    span.end_s += shift_s;
    epoch.timeline.push_back(span);
  }
  epoch.log.begin_s = is_first ? stretch.log.begin_s : epoch.log.begin_s;
  epoch.log.end_s = stretch.log.end_s + shift_s;
  epoch.log.cpu_batches += stretch.log.cpu_batches;
  epoch.log.blocked_on_cpu_s += stretch.log.blocked_on_cpu_s;
  epoch.log.blocked_on_device_s += stretch.log.blocked_on_device_s;
}

}  // namespace gnomon::runtime
