#pragma once

#include <c10/core/Device.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiles/measure/probe.h"

namespace gnomon::profiles {

/// Probes of training's tensor operations on the host, on one thread and on `threads`: forward and backward
/// passes of layers, means over neighbours, and calls of tiny operations.
std::vector<Probe> host_tensor_probes(int threads);

/// The probe of dense_fp32 at this width on one thread.
Probe dense_probe(std::int64_t width);

/// Probes of a GPU: matrix products, copies within its memory and over its link, gathers of rows, kernel
/// launches. Working sets are at most `max_bytes`. Throws c10::Error if memory does not suffice. Tests pass
/// the host as the device.
std::vector<Probe> device_probes(c10::Device device, std::size_t max_bytes);

}  // namespace gnomon::profiles
