#pragma once

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "tests/kernels/host_executor.h"
#include "tests/launches/recording.h"

// What of nn/cuda/kernels.h this program links: the kernels of kernels/device, run by the host on the memory
// of the double device and counted.
namespace gnomon::kernels {

/// Runs bodies as HostExecutor, or records them, and counts what a GPU would launch.
class CountingExecutor {
 public:
  using Atomics = HostExecutor::Atomics;

  CountingExecutor(std::atomic<std::int64_t>& launches, std::uint64_t seed)
      : launches_(&launches), seed_(seed), executor_(1, seed) {}

  std::shared_ptr<void> allocate(std::size_t bytes) {
    auto memory = executor_.allocate(bytes);
    if (auto* recording = test::Recording::current()) {
      recording->keep(memory);
    }
    return memory;
  }
  template <class Body>
  void for_each(std::int64_t count, const Body& body) {
    if (count > 0) {
      launch(1, [=](HostExecutor& host) { host.for_each(count, body); });
    }
  }
  /// CUB takes two kernels.
  template <class T>
  void exclusive_sum(T* values, std::int64_t count) {
    launch(2, [=](HostExecutor& host) { host.exclusive_sum(values, count); });
  }
  template <class Value, class Write>
  void scan(std::int64_t count, const Value& value, const Write& write) {
    if (count > 0) {
      launch(2, [=](HostExecutor& host) { host.scan(count, value, write); });
    }
  }
  void fill(void* memory, int byte, std::size_t bytes) {
    launch(1, [=](HostExecutor& host) { host.fill(memory, byte, bytes); });
  }
  void upload(void* to_device, const void* from_host, std::size_t bytes) {
    refuse_in_recording("an upload");
    launch(1, [=](HostExecutor& host) { host.upload(to_device, from_host, bytes); });
  }
  void download(void* to_host, const void* from_device, std::size_t bytes) {
    refuse_in_recording("a download");
    launch(1, [=](HostExecutor& host) { host.download(to_host, from_device, bytes); });
  }
  void start_download(const void* from_device, std::size_t bytes) {
    refuse_in_recording("a download");
    launch(1, [=](HostExecutor& host) { host.start_download(from_device, bytes); });
  }
  void finish_download(void* to_host, std::size_t bytes) { executor_.finish_download(to_host, bytes); }

  /// Runs `act` with the host's executor, now or at each replay, as that many launches.
  template <class Act>
  void launch(std::int64_t launches, const Act& act) {
    if (auto* recording = test::Recording::current()) {
      recording->add([act, seed = seed_] {
        HostExecutor host(1, seed);
        act(host);
      });
      return;
    }
    *launches_ += launches;
    act(executor_);
  }

 private:
  static void refuse_in_recording(const char* what) {
    if (test::Recording::current() != nullptr) {
      throw std::logic_error(std::string(what) + " while launches are recorded");
    }
  }

  std::atomic<std::int64_t>* launches_;
  std::uint64_t seed_;
  HostExecutor executor_;
};

}  // namespace gnomon::kernels

namespace gnomon::test {

/// Launches of our kernels since the last call.
std::int64_t take_kernels();

}  // namespace gnomon::test
