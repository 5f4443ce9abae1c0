#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device/gather-inl.h"
#include "kernels/device/sampler-inl.h"
#include "kernels/device/stored-inl.h"
#include "nn/sparse/device_stored_features.h"
#include "runtime/streams/stream_device-inl.h"
#include "tests/kernels/host_executor.h"
#include "tests/kernels/sparse/host_sparse_kernels.h"
#include "tests/runtime/streams/host_stream.h"

// The host in the place of a GPU's driver: streams put work off until somebody waits for them, as late as a
// GPU might do it. What is not waited for is seen as rubbish.
namespace gnomon::runtime {

/// A number that several threads count up.
class Count {
 public:
  Count(std::int64_t value = 0) : value_(value) {}
  Count(const Count& other) : value_(other.value_.load()) {}
  Count& operator=(const Count& other) {
    value_ = other.value_.load();
    return *this;
  }
  operator std::int64_t() const { return value_; }
  Count& operator++() { return *this += 1; }
  Count& operator+=(std::int64_t more) {
    value_ += more;
    return *this;
  }

 private:
  std::atomic<std::int64_t> value_;
};

/// What a driver was asked to do.
struct StreamCounts {
  Count kernels{}, fills{}, uploads{}, downloads{};
  Count waits{};  ///< of the host for a stream
  Count allocations{}, copies_within{};
  Count pageable_uploads{};  ///< from memory that CUDA copies first
  Count orders{};            ///< of streams after others

  StreamCounts operator-(const StreamCounts& before) const {
    return {kernels - before.kernels,
            fills - before.fills,
            uploads - before.uploads,
            downloads - before.downloads,
            waits - before.waits,
            allocations - before.allocations,
            copies_within - before.copies_within,
            pageable_uploads - before.pageable_uploads,
            orders - before.orders};
  }
  /// What the host has to start, one call of CUDA's each.
  std::int64_t launches() const { return kernels + fills + uploads + downloads + copies_within; }
};

/// Host memory that counts as pinned: uploads read it when the stream comes to them.
class PinnedHostMemory final : public std::pmr::memory_resource {
 public:
  bool contains(const void* data) const {
    const std::lock_guard lock(mutex_);
    const auto* at = static_cast<const std::byte*>(data);
    return std::any_of(blocks_.begin(), blocks_.end(), [&](const auto& block) {
      return at >= block.first && at < block.first + block.second;
    });
  }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    auto* memory = static_cast<std::byte*>(std::pmr::new_delete_resource()->allocate(bytes, alignment));
    const std::lock_guard lock(mutex_);
    blocks_.emplace_back(memory, bytes);
    return memory;
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(blocks_, [&](const auto& block) { return block.first == memory; });
    }
    std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  mutable std::mutex mutex_;
  std::vector<std::pair<std::byte*, std::size_t>> blocks_;
};

/// What the driver's parts share, and what tests look at.
struct HostWorld {
  HostStream others;  ///< of users beside the device
  std::vector<std::shared_ptr<HostStream>> streams;
  std::vector<bool> is_of_high_priority;
  PinnedHostMemory pinned;
  StreamCounts counts;
  std::int64_t mappings = 0;
  std::int64_t unmapped_bytes = 0;  ///< that each mapping says it had to copy
  std::int64_t max_bytes = 0;
  std::string lacks_memory;  ///< for which operation, the next time
  MemoryUse memory{.peak_bytes = 0, .usable_bytes = 64 << 20};
};

/// A device's executor whose bodies run, shuffled, when somebody waits for the stream. Memory is freed in the
/// stream's order, and then overwritten.
class StreamExecutor {
 public:
  using Atomics = kernels::device::HostAtomics;

  StreamExecutor(std::shared_ptr<HostWorld> world, std::shared_ptr<HostStream> stream)
      : world_(std::move(world)), stream_(std::move(stream)) {}

  std::shared_ptr<void> allocate(std::size_t bytes) {
    ++world_->counts.allocations;
    const auto memory = kernels::HostExecutor().allocate(bytes);
    return {memory.get(), [memory, bytes, stream = stream_](void* data) {
              stream->then([memory, data, bytes] { std::memset(data, 0x5A, bytes); });
            }};
  }
  template <class Body>
  void for_each(std::int64_t count, const Body& body) {
    if (count > 0) {
      ++world_->counts.kernels;
      stream_->start([count, body, seed = ++seed_] { kernels::HostExecutor(1, seed).for_each(count, body); });
    }
  }
  /// CUB takes two kernels.
  template <class T>
  void exclusive_sum(T* values, std::int64_t count) {
    world_->counts.kernels += 2;
    stream_->start([values, count] { kernels::HostExecutor().exclusive_sum(values, count); });
  }
  template <class Value, class Write>
  void scan(std::int64_t count, const Value& value, const Write& write) {
    if (count > 0) {
      world_->counts.kernels += 2;
      stream_->start([count, value, write, seed = ++seed_] {
        kernels::HostExecutor(1, seed).scan(count, value, write);
      });
    }
  }
  void fill(void* memory, int byte, std::size_t bytes) {
    ++world_->counts.fills;
    stream_->start([=] { kernels::HostExecutor().fill(memory, byte, bytes); });
  }
  void upload(void* to_device, const void* from_host, std::size_t bytes) {
    ++world_->counts.uploads;
    if (world_->pinned.contains(from_host)) {
      stream_->start([=] { kernels::HostExecutor().upload(to_device, from_host, bytes); });
      return;
    }
    ++world_->counts.pageable_uploads;
    const auto* first = static_cast<const std::byte*>(from_host);
    stream_->start([to_device, bytes, staged = std::vector<std::byte>(first, first + bytes)] {
      kernels::HostExecutor().upload(to_device, staged.data(), bytes);
    });
  }
  void download(void* to_host, const void* from_device, std::size_t bytes) {
    ++world_->counts.downloads;
    ++world_->counts.waits;
    stream_->start([=] { kernels::HostExecutor().download(to_host, from_device, bytes); });
    stream_->wait();
  }
  void start_download(const void* from_device, std::size_t bytes) {
    ++world_->counts.downloads;
    started_ = std::make_shared<StartedDownload>(bytes);
    stream_->start([from_device, bytes, to = started_] {
      kernels::HostExecutor().download(to->bytes.data(), from_device, bytes);
      to->is_done = true;
    });
  }
  void finish_download(void* to_host, std::size_t bytes) {
    ++world_->counts.waits;
    stream_->wait_until([&] { return started_->is_done.load(); });
    std::memcpy(to_host, started_->bytes.data(), bytes);
  }

 private:
  struct StartedDownload {
    explicit StartedDownload(std::size_t size) : bytes(size) {}
    std::vector<std::byte> bytes;
    std::atomic<bool> is_done = false;
  };

  std::shared_ptr<HostWorld> world_;
  std::shared_ptr<HostStream> stream_;
  std::uint64_t seed_ = 0;
  std::shared_ptr<StartedDownload> started_;
};

struct StreamHardware {
  using Executor = StreamExecutor;

  at::Device tensor_device() const { return at::kCPU; }
  void start(const std::function<void()>& act) {
    try {
      act();
    } catch (...) {
      stream->wait();
      throw;
    }
  }
  void run(const std::function<void()>& act) {
    act();
    if (!stream->is_idle()) {
      ++world->counts.waits;
      stream->wait();
    }
  }
  Executor make_executor(double) { return {world, stream}; }
  MappedBytes map(const void* data, std::size_t bytes) {
    ++world->mappings;
    const auto* first = static_cast<const std::byte*>(data);
    const auto copy = std::make_shared<std::vector<std::byte>>(first, first + bytes);
    return {copy, copy->data(), world->unmapped_bytes};
  }
  std::pmr::memory_resource* staging_memory() { return &world->pinned; }
  void release_memory() const {}
  MemoryUse memory_use() const { return world->memory; }
  double now_s() { return 1e-3 * static_cast<double>(world->counts.waits); }

  std::shared_ptr<HostWorld> world;
  std::shared_ptr<HostStream> stream;
};

/// A mark in a stream's work, and when the stream passed it, in seconds of std::chrono::steady_clock; 0
/// before.
struct HostEvent {
  std::shared_ptr<HostStream> stream;
  std::shared_ptr<std::atomic<double>> passed_at_s = std::make_shared<std::atomic<double>>(0);
};

/// Operations on the tensors of a stream, which are done at once, after what the stream has still to do.
struct StreamLaunches {
  std::shared_ptr<HostStream> stream;
  kernels::HostLaunches host{};

  kernels::HostLaunches::Launch begin(const at::Tensor& on) const {
    stream->wait();
    return host.begin(on);
  }
};

struct HostDriver {
  using Stream = std::shared_ptr<HostStream>;
  using Hardware = StreamHardware;
  using Event = HostEvent;

  Stream make_stream(bool high_priority) {
    world->streams.push_back(std::make_shared<HostStream>());
    world->is_of_high_priority.push_back(high_priority);
    return world->streams.back();
  }
  Hardware hardware(const Stream& stream) { return {world, stream}; }
  void wait_for_all() {
    world->others.wait();
    for (const auto& stream : world->streams) {
      stream->wait();
    }
  }
  Event mark(const Stream& stream) {
    const Event event{stream};
    stream->then([at_s = event.passed_at_s] {
      *at_s = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    });
    return event;
  }
  /// A stream that nobody has to wait for has passed its marks.
  bool has_passed(const Event& event) noexcept {
    if (*event.passed_at_s == 0 && event.stream->is_idle()) {
      event.stream->wait();
    }
    return *event.passed_at_s > 0;
  }
  void wait_for(const Event& event) {
    ++world->counts.waits;
    event.stream->wait_until([&] { return *event.passed_at_s > 0; });
  }
  void order(const Stream& stream, const Event& event) {
    ++world->counts.orders;
    stream->start([event] { event.stream->wait_until([&] { return *event.passed_at_s > 0; }); });
  }
  double passed_at_s(const Event& event) { return *event.passed_at_s; }
  std::pmr::memory_resource* slot_memory() { return &world->pinned; }
  std::int64_t peak_bytes() const { return world->memory.peak_bytes; }
  void limit_memory(std::int64_t max_bytes) { world->max_bytes = max_bytes; }
  void with_memory(const std::string& doing, const plan::Plan&, const std::function<void()>& act) {
    if (doing == world->lacks_memory) {
      world->lacks_memory.clear();
      throw OutOfDeviceMemory("device memory", "does not suffice for " + doing);
    }
    act();
  }
  nn::StoredFeaturesPtr stored_features(const kernels::device::Rows& rows, const graph::Features& features,
                                        at::Tensor vertices) {
    return std::make_shared<const nn::DeviceStoredFeatures<StreamLaunches>>(
        rows, features.type, features.columns, std::move(vertices), StreamLaunches{world->streams.back()});
  }
  /// Copies nothing: nobody reads what a measurement copies.
  void copy_within(const Stream& stream, void*, const void*, std::size_t) {
    ++world->counts.copies_within;
    stream->start([] {});
  }
  std::size_t measured_bytes() const { return 1 << 18; }
  DeviceFacts facts() { return {.name = "host"}; }

  std::shared_ptr<HostWorld> world = std::make_shared<HostWorld>();
};

static_assert(kernels::device::Executor<StreamExecutor>);
static_assert(Driver<HostDriver>);

}  // namespace gnomon::runtime
