#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/sampling_rule.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::cuda {

/// Empty when a CUDA device can be used; otherwise why not, in the words of the CUDA runtime.
std::string why_no_device();

/// The draws of draw_positions, computed on the current device: for the i-th of `vertices` the positions
/// i·fanout … i·fanout + fanout - 1 of the result, bit for bit those of the CPU. Every degree must be greater
/// than `fanout`, which lies in 1 … max_fanout; throws base::InputError otherwise. Synchronous, on the
/// default stream. Throws base::Failure with the CUDA runtime's words when the device fails.
std::vector<std::int64_t> draw_positions(const BatchKey& key, std::uint32_t hop,
                                         const std::vector<std::int64_t>& vertices,
                                         const std::vector<std::int64_t>& degrees, int fanout);

}  // namespace gnomon::kernels::cuda
