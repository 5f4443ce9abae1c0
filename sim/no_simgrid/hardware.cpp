// Builds without SimGrid compute what it would: all of an epoch, by the arithmetic that its solver is held
// against.
#include "sim/hardware/hardware.h"

namespace gnomon::sim {

std::unique_ptr<Hardware> make_solved_hardware(const Shared& shared, int slots, double scale_s) {
  return make_computed_hardware(shared, slots, scale_s);
}

void make_engine() {}

void run_in_actor(const std::function<void()>& body) { body(); }

}  // namespace gnomon::sim
