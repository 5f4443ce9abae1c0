#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory_resource>
#include <string>
#include <utility>

#include "nn/sparse/stored_features.h"
#include "plan/plan.h"
#include "runtime/device.h"
#include "runtime/preparation/hardware.h"

namespace gnomon::runtime {

/// The operations that StreamDevice requires of a device whose work is ordered by streams. Free of CUDA, so
/// that a test's driver runs the same logic on the host (tests/runtime/streams/host_driver.h).
///
/// - Stream: a handle. Work on equal streams runs in order.
/// - Hardware: the concept Hardware on one stream. Its run() waits for that stream only.
/// - Event: a recorded point in a stream; it has passed once all work queued before it is done.
/// - make_stream: a new stream without work; high priority for work that other streams wait for.
/// - hardware: the Hardware of a stream.
/// - wait_for_all: waits for all streams of the device, including those of other users.
/// - mark: records an event after all queued work of a stream.
/// - has_passed: whether an event has passed; false after a failure. Never waits.
/// - wait_for: waits until an event has passed.
/// - order: later work of a stream begins after an event of another stream; the host does not wait.
/// - passed_at_s: when an event passed, in seconds of std::chrono::steady_clock. Precondition: it has passed,
///   since the last wait_for_all().
/// - peak_bytes: maximum bytes of the device's tensors since the driver was made.
/// - slot_memory: pinned host memory, from which copies to the device need no staging.
/// - limit_memory: limits the memory of the device's tensors to that many bytes; 0: no limit.
/// - with_memory: calls a function. If it runs out of device memory, throws OutOfDeviceMemory
///   (runtime/preparation/device_room.h).
/// - stored_features: the rows of a batch's vertices in the feature store, as a first layer reads them.
/// - copy_within: starts a copy from device memory to device memory on a stream.
/// - measured_bytes: copy size for measuring bandwidth.
/// - facts: name, multiprocessors and link.
template <class D>
concept Driver = Hardware<typename D::Hardware> && std::equality_comparable<typename D::Stream> &&
    requires(D& driver, const typename D::Stream& stream, bool high_priority, std::int64_t max_bytes,
             const std::string& doing, const plan::Plan& plan, const std::function<void()>& act,
             const kernels::device::Rows& rows, const graph::Features& features, at::Tensor vertices,
             void* to, const void* from, std::size_t bytes, const typename D::Event& event) {
  { driver.make_stream(high_priority) } -> std::same_as<typename D::Stream>;
  { driver.hardware(stream) } -> std::same_as<typename D::Hardware>;
  driver.wait_for_all();
  { driver.mark(stream) } -> std::same_as<typename D::Event>;
  { driver.has_passed(event) } -> std::same_as<bool>;
  driver.wait_for(event);
  driver.order(stream, event);
  { driver.passed_at_s(event) } -> std::same_as<double>;
  { driver.slot_memory() } -> std::same_as<std::pmr::memory_resource*>;
  { std::as_const(driver).peak_bytes() } -> std::same_as<std::int64_t>;
  driver.limit_memory(max_bytes);
  driver.with_memory(doing, plan, act);
  { driver.stored_features(rows, features, vertices) } -> std::same_as<nn::StoredFeaturesPtr>;
  driver.copy_within(stream, to, from, bytes);
  { driver.measured_bytes() } -> std::convertible_to<std::size_t>;
  { driver.facts() } -> std::same_as<DeviceFacts>;
};

}  // namespace gnomon::runtime
