#include "runtime/emulated/device_arena.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <tuple>
#include <utility>

namespace gnomon::runtime::emulated {
namespace {

/// Sizes of blocks: multiples of 4 KiB, or of a sixteenth of the next smaller power of two, so that
/// allocations of similar sizes can reuse the same blocks.
std::size_t block_bytes(std::size_t bytes) {
  std::size_t step = std::size_t{1} << 12;
  while (step * 32 < bytes) {
    step *= 2;
  }
  return std::max(step, (bytes + step - 1) / step * step);
}

}  // namespace

struct DeviceArena::State {
  explicit State(std::int64_t bytes) : limit(bytes) {}
  ~State() { shrink(0); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// A kept block of about `size` bytes, and its real size; or null.
  std::pair<void*, std::size_t> take_block(std::size_t size) {
    const auto found = blocks.lower_bound(size);
    if (found == blocks.end() || found->first > size + size / 8) {
      return {nullptr, size};
    }
    const std::pair block(found->second, found->first);
    kept -= found->first;
    blocks.erase(found);
    return block;
  }
  /// Frees kept blocks until they and what is in use fit into 5/4 of the peak use: blocks of several sizes
  /// are kept for mini-batches that vary in size.
  void shrink() { shrink(static_cast<std::size_t>(std::max<std::int64_t>(0, peak + peak / 4 - used))); }
  /// Frees kept blocks, the largest first, until at most `bytes` of them are left.
  void shrink(std::size_t bytes) {
    while (kept > bytes && !blocks.empty()) {
      const auto largest = std::prev(blocks.end());
      kept -= largest->first;
      ::operator delete(largest->second, memory_alignment);
      blocks.erase(largest);
    }
  }

  std::mutex mutex;
  std::int64_t limit;
  std::int64_t used = 0;
  std::int64_t peak = 0;
  std::size_t kept = 0;
  std::multimap<std::size_t, void*> blocks;  ///< free ones, by size
};

DeviceArena::DeviceArena(std::int64_t limit_bytes) : state_(std::make_shared<State>(limit_bytes)) {}

DeviceArena::~DeviceArena() = default;

void DeviceArena::limit(std::int64_t bytes) {
  const std::lock_guard lock(state_->mutex);
  state_->limit = bytes;
}

void DeviceArena::take(State& state, std::size_t bytes) {
  const auto more = static_cast<std::int64_t>(bytes);
  if (state.used + more > state.limit) {
    throw ArenaIsFull(std::to_string(bytes) + " bytes were requested, and " + std::to_string(state.used) +
                      " of " + std::to_string(state.limit) + " are in use: " +
                      std::to_string(state.used + more - state.limit) + " bytes are missing;");
  }
  state.used += more;
  state.peak = std::max(state.peak, state.used);
}

void DeviceArena::take(std::size_t bytes) {
  const std::lock_guard lock(state_->mutex);
  take(*state_, bytes);
}

void DeviceArena::give(std::size_t bytes) noexcept {
  const std::lock_guard lock(state_->mutex);
  state_->used -= static_cast<std::int64_t>(bytes);
}

std::shared_ptr<void> DeviceArena::allocate(std::size_t bytes) {
  std::size_t size = block_bytes(bytes);
  void* memory = nullptr;
  {
    const std::lock_guard lock(state_->mutex);
    take(*state_, bytes);
    std::tie(memory, size) = state_->take_block(size);
    state_->shrink();
  }
  if (memory == nullptr) {
    memory = ::operator new(size, memory_alignment);
  }
  return {memory, [state = state_, bytes, size](void* freed) {
            const std::lock_guard lock(state->mutex);
            state->used -= static_cast<std::int64_t>(bytes);
            state->kept += size;
            state->blocks.emplace(size, freed);
            state->shrink();
          }};
}

std::shared_ptr<const void> reserve_in(const std::shared_ptr<DeviceArena>& arena, std::size_t bytes) {
  arena->take(bytes);
  return {arena.get(), [arena, bytes](const void*) { arena->give(bytes); }};
}

std::int64_t DeviceArena::used_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->used;
}

std::int64_t DeviceArena::peak_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->peak;
}

std::int64_t DeviceArena::kept_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return static_cast<std::int64_t>(state_->kept);
}

std::int64_t DeviceArena::limit_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->limit;
}

}  // namespace gnomon::runtime::emulated
