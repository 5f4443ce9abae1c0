#include "runtime/emulated/tensor_count.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace gnomon::runtime::emulated {
namespace {

/// The arena that this thread's tensors count for; null if they are not counted.
std::shared_ptr<DeviceArena>& arena_of_thread() {
  static thread_local std::shared_ptr<DeviceArena> arena;
  return arena;
}

/// The counted tensors that exist, by address.
class CountedTensors {
 public:
  void add(void* memory, std::size_t bytes, std::shared_ptr<DeviceArena> arena) {
    const std::lock_guard lock(mutex_);
    counted_[memory] = {bytes, std::move(arena)};
  }
  void remove(void* memory) {
    const std::lock_guard lock(mutex_);
    if (const auto found = counted_.find(memory); found != counted_.end()) {
      found->second.arena->give(found->second.bytes);
      counted_.erase(found);
    }
  }

 private:
  struct Counted {
    std::size_t bytes = 0;
    std::shared_ptr<DeviceArena> arena;
  };
  std::mutex mutex_;
  std::unordered_map<void*, Counted> counted_;
};

CountedTensors& counted_tensors() {
  // never destroyed: tensors may be freed after static destruction
  static auto* tensors = new CountedTensors;
  return *tensors;
}

/// Forwards to another allocator and counts the allocations.
class CountingAllocator final : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator* inner) : inner_(inner) { inner_of_all() = inner; }

  c10::DataPtr allocate(std::size_t bytes) override {
    const auto& arena = arena_of_thread();
    if (!arena || bytes == 0) {
      void* memory = inner_->raw_allocate(bytes);
      return {memory, memory, &release, c10::Device(c10::DeviceType::CPU)};
    }
    arena->take(bytes);
    void* memory = nullptr;
    try {
      memory = inner_->raw_allocate(bytes);
    } catch (...) {
      arena->give(bytes);
      throw;
    }
    counted_tensors().add(memory, bytes, arena);
    return {memory, memory, &release, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

 private:
  static c10::Allocator*& inner_of_all() {
    static c10::Allocator* inner = nullptr;
    return inner;
  }
  static void release(void* memory) {
    if (memory != nullptr) {
      counted_tensors().remove(memory);
      inner_of_all()->raw_deallocate(memory);
    }
  }

  c10::Allocator* inner_;
};

/// Installed for the rest of the process, on top of the current allocator.
void install_counting() {
  static CountingAllocator allocator(c10::GetCPUAllocator());
  static const bool is_installed = [] {
    c10::SetCPUAllocator(&allocator, 2);  // above nn::install_caching_allocator()
    return true;
  }();
  (void)is_installed;
}

}  // namespace

TensorCount::TensorCount(std::shared_ptr<DeviceArena> arena) {
  install_counting();
  before_ = std::exchange(arena_of_thread(), std::move(arena));
}

TensorCount::~TensorCount() { arena_of_thread() = std::move(before_); }

}  // namespace gnomon::runtime::emulated
