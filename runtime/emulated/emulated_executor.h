#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/device/executor_concept.h"
#include "kernels/device/host_atomics.h"
#include "nn/parallel.h"
#include "runtime/emulated/device_arena.h"
#include "runtime/emulated/link_reads.h"
#include "runtime/emulated/run_indices.h"
#include "runtime/emulated/shared_link.h"

namespace gnomon::runtime::emulated {

/// The state shared by the executors of an emulated device. Not thread-safe: their work is sequential.
struct DeviceQueue {
  std::shared_ptr<DeviceArena> arena;
  SharedLink& link;
  MappedRanges mapped{};
  MappedRanges peers{};             ///< memory of linked devices
  SharedLink* peer_link = nullptr;  ///< the link to `peers`; null without linked devices
  int threads = 1;                  ///< host threads that emulate all multiprocessors
  ZeroCopyReads reads{};            ///< pending reads of kernels that have finished computing
  std::int64_t num_kernels = 0;     ///< with pending reads
  ZeroCopyReads peer_reads{};
  std::int64_t num_peer_kernels = 0;

  /// A coalescer for the reads of a kernel.
  Coalescer coalescer() const { return {mapped, peers, link.settings().request_bytes}; }
  /// Adds the reads of a kernel.
  void add(const LinkReads& kernel) {
    reads += kernel.host;
    num_kernels += kernel.host.requests > 0 ? 1 : 0;
    peer_reads += kernel.peers;
    num_peer_kernels += kernel.peers.requests > 0 ? 1 : 0;
  }
  /// Waits for all pending reads.
  void settle() {
    if (reads.requests > 0) {
      link.read(std::exchange(reads, {}), std::exchange(num_kernels, 0));
    }
    if (peer_reads.requests > 0) {
      peer_link->read(std::exchange(peer_reads, {}), std::exchange(num_peer_kernels, 0));
    }
  }
};

/// Runs a device's bodies (kernels/device/executor.h) synchronously on the host, on a share of the device's
/// threads. The time of their reads over the link is spent later, when the host waits for the device.
class EmulatedExecutor {
 public:
  using Atomics = kernels::device::HostAtomics;

  /// `queue` must outlive it.
  EmulatedExecutor(DeviceQueue& queue, double share) : queue_(&queue), share_(share) {}

  std::shared_ptr<void> allocate(std::size_t bytes) { return queue_->arena->allocate(bytes); }

  template <class Body>
  void for_each(std::int64_t count, const Body& body) {
    run_on_threads(count, body);
    note_reads(count, body);
  }

  template <class T>
  void exclusive_sum(T* values, std::int64_t count) {
    std::exclusive_scan(values, values + count, values, T{0});
  }
  template <class Value, class Write>
  void scan(std::int64_t count, const Value& value, const Write& write) {
    using T = std::decay_t<decltype(value(std::int64_t{}))>;
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(count, 0));
    const auto sums = std::make_unique_for_overwrite<T[]>(size);
    run_on_threads(count, [&](std::int64_t i) { sums[static_cast<std::size_t>(i)] = value(i); });
    note_reads(count, value);
    exclusive_sum(sums.get(), count);
    run_on_threads(count, [&](std::int64_t i) { write(i, sums[static_cast<std::size_t>(i)]); });
  }
  void fill(void* memory, int byte, std::size_t bytes) {
    if (bytes > 0) {
      std::memset(memory, byte, bytes);
    }
  }
  void upload(void* to_device, const void* from_host, std::size_t bytes) {
    copy(to_device, from_host, bytes, SharedLink::Direction::to_device);
  }
  void download(void* to_host, const void* from_device, std::size_t bytes) {
    queue_->settle();
    copy(to_host, from_device, bytes, SharedLink::Direction::to_host);
  }
  void start_download(const void* from_device, std::size_t bytes) {
    started_.resize(bytes);
    std::memcpy(started_.data(), from_device, bytes);
  }
  /// Waits for what was started after the copy, too.
  void finish_download(void* to_host, std::size_t bytes) { download(to_host, started_.data(), bytes); }

 private:
  int threads() const { return std::max(1, static_cast<int>(std::lround(share_ * queue_->threads))); }
  template <class Body>
  void run_on_threads(std::int64_t count, const Body& body) {
    constexpr std::int64_t min_share = 4096;  // fewer indices per thread take less time than waking it
    constexpr std::int64_t warp = 32;
    const auto members = static_cast<int>(std::clamp<std::int64_t>(count / min_share, 1, threads()));
    const std::int64_t each = (count / members + warp) / warp * warp;
    const auto run = [&](int member) {
      const std::int64_t begin = std::min(count, member * each);
      run_indices(body, begin, std::min(count, begin + each));
    };
    if (members == 1) {
      run(0);
    } else {
      nn::run_on_tensor_threads(members, run);
    }
  }
  template <class Body>
  void note_reads(std::int64_t count, const Body& body) {
    Coalescer coalescer = queue_->coalescer();
    if (count > 0) {
      read_over_link(body, count, coalescer);
    }
    queue_->add(coalescer.finish());
  }
  void copy(void* to, const void* from, std::size_t bytes, SharedLink::Direction direction) {
    if (bytes > 0) {
      queue_->link.copy(
          static_cast<std::int64_t>(bytes), [&] { std::memcpy(to, from, bytes); }, direction);
    }
  }

  DeviceQueue* queue_;
  double share_;
  std::vector<std::byte> started_;  ///< what finish_download() takes
};

static_assert(kernels::device::Executor<EmulatedExecutor>);

}  // namespace gnomon::runtime::emulated
