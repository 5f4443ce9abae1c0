#pragma once

namespace gnomon::runtime::emulated {

/// The clock of an emulated device and its link; tests substitute their own. Thread-safe.
class DeviceClock {
 public:
  DeviceClock() = default;
  DeviceClock(const DeviceClock&) = delete;
  DeviceClock& operator=(const DeviceClock&) = delete;
  virtual ~DeviceClock() = default;

  /// Seconds on a monotonic clock.
  virtual double now_s() = 0;
  /// Blocks until that time.
  virtual void wait_until(double end_s) = 0;
};

/// Real time. Waits by sleeping until shortly before the end, as sleeps overshoot, and spinning for the rest.
class SteadyClock final : public DeviceClock {
 public:
  double now_s() override;
  void wait_until(double end_s) override;
};

}  // namespace gnomon::runtime::emulated
