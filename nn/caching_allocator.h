#pragma once

#include <cstddef>
#include <cstdint>

namespace gnomon::nn {

/// Installs a caching allocator for large CPU tensors (1 MiB and more), on huge pages if available. Training
/// steps, which allocate tensors of similar sizes again and again, then make no system calls and cause no
/// page faults. When a tensor has been freed, the memory held exceeds the peak use by at most a quarter.
/// malloc, from which smaller tensors come, then keeps up to 64 MiB of what each thread has freed.
/// Call it at the start of the process; further calls have no effect.
void install_caching_allocator();

/// Memory of large CPU tensors in bytes; all 0 without the caching allocator.
struct TensorBytes {
  std::int64_t used = 0;       ///< by tensors that exist
  std::int64_t held = 0;       ///< including the memory kept for later tensors
  std::int64_t peak_held = 0;  ///< the maximum of `held` so far
};

TensorBytes tensor_bytes();

/// Guard of a phase whose tensors do not recur: at its end, memory held beyond the earlier peak is released.
class TransientTensors {
 public:
  TransientTensors();
  ~TransientTensors();
  TransientTensors(const TransientTensors&) = delete;
  TransientTensors& operator=(const TransientTensors&) = delete;

 private:
  std::size_t peak_before_;
};

}  // namespace gnomon::nn
