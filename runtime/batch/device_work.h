#pragma once

#include <memory>

namespace gnomon::runtime {

/// When a device did something, in seconds of std::chrono::steady_clock.
struct WorkSpan {
  double begin_s = 0;
  double end_s = 0;
};

/// What a call has started on a device, which may still be doing it after the call. The destructor waits for
/// the end and then frees the memory that the work uses. Must not outlive its device; for one thread at a
/// time.
class DeviceWork {
 public:
  DeviceWork() = default;
  DeviceWork(const DeviceWork&) = delete;
  DeviceWork& operator=(const DeviceWork&) = delete;
  virtual ~DeviceWork() = default;

  /// Whether the device has done it; false after a failure. Never waits.
  virtual bool is_done() noexcept = 0;
  /// Returns when the device has done it. Throws base::Failure if the device fails.
  virtual void wait() = 0;
  /// Precondition: wait() has returned.
  virtual WorkSpan span() = 0;
};

/// Null if the work was done when the call returned: its span is then the call's.
using DeviceWorkPtr = std::unique_ptr<DeviceWork>;

}  // namespace gnomon::runtime
