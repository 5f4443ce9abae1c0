#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory_resource>
#include <string>

#include "nn/sparse/stored_features.h"
#include "plan/plan.h"
#include "runtime/device.h"
#include "runtime/preparation/hardware.h"

namespace gnomon::runtime {

/// What StreamDevice asks of a device whose work is ordered by streams. Free of CUDA, so that a test's driver
/// runs the same logic on the host (tests/runtime/streams/host_driver.h).
///
/// Stream: a handle; equal ones order their work among each other.
/// Hardware: one stream as Preparation uses it. Its run() waits for that stream only.
/// Event: a mark in a stream's work, which the stream passes when it has done what was started before.
/// make_stream: a stream that no other work is on; of high priority for what others wait for.
/// hardware: Hardware of a stream.
/// wait_for_all: waits for all streams of the device, those of other users too.
/// mark: a mark behind what was started on a stream so far.
/// has_passed: whether its stream has passed a mark; false after a failure. Never waits.
/// wait_for: waits until its stream has passed a mark.
/// passed_at_s: when its stream passed a mark, in seconds of std::chrono::steady_clock. Precondition: it
///   has, since the last wait_for_all().
/// slot_memory: host memory from which copies to the device need no other copy.
/// limit_memory: limits what the device's tensors may take to that many bytes; 0: no limit.
/// with_memory: calls a function; if the device's memory does not suffice, throws base::Failure that tells
///   what was being done, the missing bytes, and the plan's fields that lower the need.
/// stored_features: the rows of a batch's vertices in the feature store, as a first layer reads them.
/// copy_within: starts a copy from device memory to device memory on a stream.
/// measured_bytes: so many that a copy of them tells the bandwidth.
/// facts: name, multiprocessors and link.
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
  { driver.passed_at_s(event) } -> std::same_as<double>;
  { driver.slot_memory() } -> std::same_as<std::pmr::memory_resource*>;
  driver.limit_memory(max_bytes);
  driver.with_memory(doing, plan, act);
  { driver.stored_features(rows, features, vertices) } -> std::same_as<nn::StoredFeaturesPtr>;
  driver.copy_within(stream, to, from, bytes);
  { driver.measured_bytes() } -> std::convertible_to<std::size_t>;
  { driver.facts() } -> std::same_as<DeviceFacts>;
};

}  // namespace gnomon::runtime
