#include "schedule/lane.h"

namespace gnomon::schedule {

std::string lane_of(const StageSpan& span) {
  const auto device = span.device == 0 ? std::string() : " " + std::to_string(span.device);
  switch (span.stage) {
    case Stage::cpu_batch:
    case Stage::group_prepare:
      return "worker " + std::to_string(span.worker);
    case Stage::transfer:
    case Stage::group_transfer:
      return "copies" + device;
    case Stage::group_read:
      return "disk";
    case Stage::all_reduce:
      return "gradients";
    default:
      return "device" + device;
  }
}

}  // namespace gnomon::schedule
