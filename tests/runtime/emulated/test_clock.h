#pragma once

#include "runtime/emulated/device_clock.h"

namespace gnomon::runtime::emulated {

/// Time that passes only while somebody waits. For one thread.
class TestClock final : public DeviceClock {
 public:
  double now_s() override { return now_s_; }
  void wait_until(double end_s) override { now_s_ = end_s > now_s_ ? end_s : now_s_; }

 private:
  double now_s_ = 100;
};

}  // namespace gnomon::runtime::emulated
