#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>

namespace gnomon::runtime::emulated {

/// Of all memory of emulated devices, as of that of a GPU.
inline constexpr std::align_val_t memory_alignment{256};

/// The arena has no room for what was asked of it; the message tells the bytes that were asked for, that are
/// in use, that there are, and that are missing.
class ArenaIsFull : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The memory of an emulated device: memory of the host, of which only so many bytes may be in use. Freed
/// memory is kept for allocations of about its size, up to a quarter of the peak use, since fresh memory
/// costs page faults. Thread-safe. What it allocated may outlive it.
class DeviceArena {
 public:
  explicit DeviceArena(std::int64_t limit_bytes);
  DeviceArena(const DeviceArena&) = delete;
  DeviceArena& operator=(const DeviceArena&) = delete;
  ~DeviceArena();

  /// Sets how many bytes may be in use; what is in use beyond it stays.
  void limit(std::int64_t bytes);

  /// Uninitialised memory, 256-byte aligned. Throws ArenaIsFull.
  std::shared_ptr<void> allocate(std::size_t bytes);
  /// Counts `bytes` of memory that lies elsewhere. Throws ArenaIsFull.
  void take(std::size_t bytes);
  /// Ends what take() began.
  void give(std::size_t bytes) noexcept;

  std::int64_t used_bytes() const;
  std::int64_t peak_bytes() const;
  std::int64_t limit_bytes() const;

 private:
  struct State;
  static void take(State& state, std::size_t bytes);
  std::shared_ptr<State> state_;
};

/// Counts `bytes` of memory that lies elsewhere until the last copy of the pointer is gone. Throws
/// ArenaIsFull.
std::shared_ptr<const void> room_in(const std::shared_ptr<DeviceArena>& arena, std::size_t bytes);

}  // namespace gnomon::runtime::emulated
