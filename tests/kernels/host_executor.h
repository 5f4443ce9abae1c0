#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "kernels/device/executor_concept.h"
#include "kernels/device/host_atomics.h"

namespace gnomon::kernels {

/// Runs a device's bodies (kernels/device/executor.h) on the host as badly as a device might: in a shuffled
/// order, on several threads, in memory full of rubbish of exactly the size that was asked for.
class HostExecutor {
 public:
  using Atomics = device::HostAtomics;
  explicit HostExecutor(int threads = 1, std::uint64_t seed = 1) : threads_(threads), random_(seed) {}

  std::shared_ptr<void> allocate(std::size_t bytes) {
    constexpr std::align_val_t alignment{256};
    void* memory = ::operator new(std::max<std::size_t>(bytes, 1), alignment);
    std::memset(memory, 0xA5, bytes);
    return {memory, [](void* allocated) { ::operator delete(allocated, alignment); }};
  }

  template <class Body>
  void for_each(std::int64_t count, const Body& body) {
    const int threads = count < 1024 ? 1 : threads_;  // starting them takes longer
    // A stride prime to the count visits every index once.
    std::int64_t stride =
        count > 2 ? 1 + static_cast<std::int64_t>(random_() % (static_cast<std::uint64_t>(count) - 1)) : 1;
    while (std::gcd(stride, count) > 1) {
      ++stride;
    }
    const auto run = [&](std::int64_t first) {
      for (std::int64_t i = first; i < count; i += threads) {
        body(i * stride % count);  // counts of tests are below 2^31
      }
    };
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) {
      others.emplace_back(run, t);
    }
    run(0);
    for (auto& other : others) {
      other.join();
    }
  }

  template <class T>
  void exclusive_sum(T* values, std::int64_t count) {
    std::exclusive_scan(values, values + count, values, T{0});
  }

  /// Tile by tile, as CUB does: values are read when some sums before them have been written already.
  template <class Value, class Write>
  void scan(std::int64_t count, const Value& value, const Write& write) {
    using T = std::decay_t<decltype(value(std::int64_t{}))>;
    const auto most =
        static_cast<std::int64_t>(random_() % (2 * static_cast<std::uint64_t>(count > 0 ? count : 1)));
    T sum{0};
    for (std::int64_t first = 0; first < count;) {
      const std::int64_t tile = std::min(most + 1, count - first);
      std::vector<T> sums(static_cast<std::size_t>(tile));
      for_each(tile, [&](std::int64_t i) { sums[static_cast<std::size_t>(i)] = value(first + i); });
      const T last = sums.back();
      std::exclusive_scan(sums.begin(), sums.end(), sums.begin(), sum);
      sum = static_cast<T>(sums.back() + last);
      for_each(tile, [&](std::int64_t i) { write(first + i, sums[static_cast<std::size_t>(i)]); });
      first += tile;
    }
  }

  void fill(void* memory, int byte, std::size_t bytes) {
    if (bytes > 0) {
      std::memset(memory, byte, bytes);
    }
  }
  void upload(void* to_device, const void* from_host, std::size_t bytes) {
    copy(to_device, from_host, bytes);
  }
  void download(void* to_host, const void* from_device, std::size_t bytes) {
    copy(to_host, from_device, bytes);
  }
  void start_download(const void* from_device, std::size_t bytes) {
    started_.resize(bytes);
    copy(started_.data(), from_device, bytes);
  }
  void finish_download(void* to_host, std::size_t bytes) { copy(to_host, started_.data(), bytes); }

 private:
  static void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) {
      std::memcpy(to, from, bytes);
    }
  }

  int threads_;
  std::mt19937_64 random_;
  std::vector<std::byte> started_;  ///< what finish_download() takes
};

static_assert(device::Executor<HostExecutor>);

}  // namespace gnomon::kernels
