#include "runtime/emulated/device_clock.h"

#include <chrono>
#include <thread>

namespace gnomon::runtime::emulated {

double SteadyClock::now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void SteadyClock::wait_until(double end_s) {
  constexpr double spin_s = 1e-4;
  if (const double sleep_s = end_s - spin_s - now_s(); sleep_s > 0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(sleep_s));
  }
  while (now_s() < end_s) {
  }
}

}  // namespace gnomon::runtime::emulated
