#pragma once

#include <memory>

namespace gnomon::runtime {

/// The time span of work on a device, in seconds of std::chrono::steady_clock.
struct WorkSpan {
  double begin_s = 0;
  double end_s = 0;
};

/// Asynchronous work that a call has started on a device. The destructor waits for its completion and then
/// frees the memory that it uses. Must not outlive its device. Not thread-safe.
class DeviceWork {
 public:
  DeviceWork() = default;
  DeviceWork(const DeviceWork&) = delete;
  DeviceWork& operator=(const DeviceWork&) = delete;
  virtual ~DeviceWork() = default;

  /// Whether it has completed; false after a failure. Never blocks.
  virtual bool is_done() noexcept = 0;
  /// Blocks until it has completed. Throws base::Failure if the device fails.
  virtual void wait() = 0;
  /// Precondition: wait() has returned.
  virtual WorkSpan span() = 0;
  /// Whether the device itself orders later stages of its mini-batch after it, so that these may be launched
  /// before it has completed.
  virtual bool orders_successors() const { return false; }
};

/// A point in a device's work, of a type of the device's own.
class DeviceMark {
 public:
  DeviceMark() = default;
  DeviceMark(const DeviceMark&) = delete;
  DeviceMark& operator=(const DeviceMark&) = delete;
  virtual ~DeviceMark() = default;
};

/// Null if the work had completed when the call returned; its span is then that of the call.
using DeviceWorkPtr = std::unique_ptr<DeviceWork>;

}  // namespace gnomon::runtime
