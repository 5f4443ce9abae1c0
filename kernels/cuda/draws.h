#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/sampling_rule.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::cuda {

/// Returns an empty string if a CUDA device can be used, otherwise the CUDA runtime's reason why not.
std::string why_no_device();

/// Computes kernels::draw_positions on the current device: elements i·fanout … i·fanout + fanout - 1 of the
/// result are the positions of the i-th of `vertices`, equal to the CPU's. Synchronous, on the default
/// stream. Throws base::InputError unless `fanout` is in 1 … max_fanout and every degree is greater than it,
/// and base::Failure with the CUDA runtime's message if the device fails.
std::vector<std::int64_t> draw_positions(const BatchKey& key, std::uint32_t hop,
                                         const std::vector<std::int64_t>& vertices,
                                         const std::vector<std::int64_t>& degrees, int fanout);

}  // namespace gnomon::kernels::cuda
