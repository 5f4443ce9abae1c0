#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>

namespace gnomon::runtime::emulated {

/// Alignment of all memory of emulated devices, as on a GPU.
inline constexpr std::align_val_t memory_alignment{256};

/// Thrown if an allocation exceeds the arena's limit; the message gives the requested, used, total and
/// missing bytes.
class ArenaIsFull : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The memory of an emulated device: host memory with a limit on the bytes in use. Freed memory is kept for
/// allocations of similar sizes, as by a device's caching allocator, since fresh memory costs page faults;
/// with what is in use it does not exceed 5/4 of the peak use.
/// Thread-safe. Its allocations may outlive it.
class DeviceArena {
 public:
  explicit DeviceArena(std::int64_t limit_bytes);
  DeviceArena(const DeviceArena&) = delete;
  DeviceArena& operator=(const DeviceArena&) = delete;
  ~DeviceArena();

  /// Sets the limit. Memory already in use beyond it stays allocated.
  void limit(std::int64_t bytes);

  /// Uninitialised memory, 256-byte aligned. Throws ArenaIsFull.
  std::shared_ptr<void> allocate(std::size_t bytes);
  /// Accounts for `bytes` of memory allocated elsewhere. Throws ArenaIsFull.
  void take(std::size_t bytes);
  /// Reverts take().
  void give(std::size_t bytes) noexcept;

  std::int64_t used_bytes() const;
  std::int64_t peak_bytes() const;
  std::int64_t kept_bytes() const;  ///< of freed blocks
  std::int64_t limit_bytes() const;

 private:
  struct State;
  static void take(State& state, std::size_t bytes);
  std::shared_ptr<State> state_;
};

/// Accounts for `bytes` of memory allocated elsewhere until the last copy of the returned pointer is
/// destroyed. Throws ArenaIsFull.
std::shared_ptr<const void> reserve_in(const std::shared_ptr<DeviceArena>& arena, std::size_t bytes);

}  // namespace gnomon::runtime::emulated
