#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device/executor.h"
#include "kernels/device/step_state.h"

// Also compiled by nvcc as C++17.

/// Mini-batches of varying sizes in arrays of fixed sizes.
namespace gnomon::kernels::device {

/// A copy of an array to the beginning of a larger one, the rest of which is filled with `fill`. Sizes are
/// multiples of two bytes. Elements narrower than `fill` get its low bytes.
struct PaddedCopy {
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t bytes = 0;       ///< of `from`
  std::int64_t room_bytes = 0;  ///< of `to`, at least as many
  std::int64_t fill = 0;
};

/// Copies arrays with padding, by one launch per 40 arrays, and sets `*state` (device memory).
template <class Executor>
void copy_padded(Executor& executor, const std::vector<PaddedCopy>& copies, const StepState& value,
                 StepState* state);

}  // namespace gnomon::kernels::device
