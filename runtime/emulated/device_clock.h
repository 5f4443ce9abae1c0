#pragma once

namespace gnomon::runtime::emulated {

/// The time that an emulated device and its link live in; tests bring their own. Thread-safe.
class DeviceClock {
 public:
  DeviceClock() = default;
  DeviceClock(const DeviceClock&) = delete;
  DeviceClock& operator=(const DeviceClock&) = delete;
  virtual ~DeviceClock() = default;

  /// Seconds; never goes back.
  virtual double now_s() = 0;
  /// Returns at that time or as soon as possible after it.
  virtual void wait_until(double end_s) = 0;
};

/// Real time. Sleeps until shortly before the end, since a sleep ends late by some scheduling, and spins for
/// the rest.
class SteadyClock final : public DeviceClock {
 public:
  double now_s() override;
  void wait_until(double end_s) override;
};

}  // namespace gnomon::runtime::emulated
