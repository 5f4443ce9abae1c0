#pragma once

#include <memory>
#include <string>

#include "runtime/device.h"

// Free of CUDA headers. Defined in runtime/cuda, or in runtime/no_gpu where that cannot be linked.

namespace gnomon::runtime {

/// Why there is no CUDA device to train on, as one line; empty if there is one.
std::string why_no_cuda_device();

/// The first GPU, without a plan: take_plan comes first. Throws base::InputError in a build without CUDA.
std::unique_ptr<Device> open_cuda_device(const plan::Job& job, const DeviceOptions& options,
                                         const base::Progress& progress);

}  // namespace gnomon::runtime
