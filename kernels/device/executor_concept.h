#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>

// The contract of the device side, checked by the compiler. For host code only: nvcc compiles C++17, which
// has no concepts.

namespace gnomon::kernels::device {

/// Archetype of a body, which is any function object of an index; the same for the input and output functions
/// of a scan.
struct AnyBody {
  constexpr void operator()(std::int64_t) const {}
};
struct AnyValue {
  constexpr std::int64_t operator()(std::int64_t) const { return 0; }
};
struct AnyWrite {
  constexpr void operator()(std::int64_t, std::int64_t) const {}
};

/// Runs bodies on a device, one after the other in the order of the calls. Every function may return before
/// the device is done, except download() and finish_download(), which wait.
///
/// - allocate: device memory, 256-byte aligned, uninitialised; freed with the last copy of the pointer. The
///   memory must not be freed before the device is done with it, unless the next user is the same executor.
/// - for_each: calls body(0) … body(count - 1), in any order and at the same time. Nothing for count <= 0.
/// - exclusive_sum: replaces values[i] by the sum of the values before it, in place.
/// - scan: calls write(i, value(0) + … + value(i - 1)) once for each i in 0 … count - 1, in any order and
///   concurrently. value(i), an integer, is called before write(i), at least once.
/// - fill: sets every byte.
/// - upload: copies from host memory, which may be overwritten when the function returns if it is pageable,
/// and
///   when the device has done the copy if it is pinned.
/// - download: copies to host memory, and waits for everything that was started before.
/// - start_download: starts to copy a few bytes, which are staged on the host; one copy at a time.
/// - finish_download: waits for the started copy, not for what was started after it, and takes as many bytes.
///
/// All functions throw base::Failure if the device fails or has no memory.
template <class E>
concept Executor = requires(E& executor, std::int64_t count, std::size_t bytes, void* on_device,
                            void* on_host, const void* from, std::int64_t* values, const AnyBody& body,
                            int byte, const AnyValue& value, const AnyWrite& write) {
  typename E::Atomics;  // see Atomics
  { executor.allocate(bytes) } -> std::same_as<std::shared_ptr<void>>;
  executor.for_each(count, body);
  executor.exclusive_sum(values, count);
  executor.scan(count, value, write);
  executor.fill(on_device, byte, bytes);
  executor.upload(on_device, from, bytes);
  executor.download(on_host, from, bytes);
  executor.start_download(from, bytes);
  executor.finish_download(on_host, bytes);
};

/// Static functions on memory that other indices of the same range may use at the same time. Memory order is
/// relaxed.
///
/// - load: the value.
/// - compare_exchange: stores `desired` if the value is `expected`; returns the value before.
/// - min: stores the smaller of the value and `value`.
/// - add: adds to an integer; returns the value before.
template <class A, class T>
concept Atomics = requires(const T* from, T* at, T value) {
  { A::load(from) } -> std::same_as<T>;
  { A::compare_exchange(at, value, value) } -> std::same_as<T>;
  A::min(at, value);
  { A::add(at, value) } -> std::same_as<T>;
};

}  // namespace gnomon::kernels::device
