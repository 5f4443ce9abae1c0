#pragma once

#include "base/error.h"

namespace gnomon::runtime {

/// The memory of a device does not suffice. The message gives the operation, the missing bytes and the plan's
/// fields that lower the need.
class OutOfDeviceMemory : public base::Failure {
 public:
  using base::Failure::Failure;
};

/// Calls `act`, and again whenever it throws OutOfDeviceMemory and `make_room` has freed some memory.
/// Precondition: an `act` that throws has changed nothing that matters to the next one.
template <class Act, class MakeRoom>
void with_room(const Act& act, const MakeRoom& make_room) {
  for (bool is_done = false; !is_done;) {
    try {
      act();
      is_done = true;
    } catch (const OutOfDeviceMemory&) {
      if (!make_room()) {
        throw;
      }
    }
  }
}

}  // namespace gnomon::runtime
