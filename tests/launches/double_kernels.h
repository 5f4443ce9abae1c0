#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "tests/kernels/host_executor.h"

// What of nn/cuda/kernels.h this program links: the kernels of kernels/device, run by the host on the memory
// of the double device and counted.
namespace gnomon::kernels {

/// Runs bodies as HostExecutor and counts what a GPU would launch.
class CountingExecutor {
 public:
  using Atomics = HostExecutor::Atomics;

  CountingExecutor(std::atomic<std::int64_t>& launches, std::uint64_t seed)
      : launches_(&launches), executor_(1, seed) {}

  std::shared_ptr<void> allocate(std::size_t bytes) { return executor_.allocate(bytes); }
  template <class Body>
  void for_each(std::int64_t count, const Body& body) {
    add(count > 0 ? 1 : 0);
    if (count > 0) {
      executor_.for_each(count, body);
    }
  }
  /// CUB takes two kernels.
  template <class T>
  void exclusive_sum(T* values, std::int64_t count) {
    add(2);
    executor_.exclusive_sum(values, count);
  }
  template <class Value, class Write>
  void scan(std::int64_t count, const Value& value, const Write& write) {
    add(count > 0 ? 2 : 0);
    if (count > 0) {
      executor_.scan(count, value, write);
    }
  }
  void fill(void* memory, int byte, std::size_t bytes) {
    add(1);
    executor_.fill(memory, byte, bytes);
  }
  void upload(void* to_device, const void* from_host, std::size_t bytes) {
    add(1);
    executor_.upload(to_device, from_host, bytes);
  }
  void download(void* to_host, const void* from_device, std::size_t bytes) {
    add(1);
    executor_.download(to_host, from_device, bytes);
  }

  void add(std::int64_t launches) { *launches_ += launches; }
  HostExecutor& host() { return executor_; }

 private:
  std::atomic<std::int64_t>* launches_;
  HostExecutor executor_;
};

}  // namespace gnomon::kernels

namespace gnomon::test {

/// Launches of our kernels since the last call.
std::int64_t take_kernels();

}  // namespace gnomon::test
