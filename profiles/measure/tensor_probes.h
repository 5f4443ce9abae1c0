#pragma once

#include <c10/core/Device.h>

#include <cstddef>
#include <vector>

#include "profiles/measure/probe.h"

namespace gnomon::profiles {

/// What training does with tensors on the host's cores, on one thread and on `threads`: layers forwards and
/// backwards, means over neighbours, and calls of tiny operations.
std::vector<Probe> host_tensor_probes(int threads);

/// What a GPU does: products, copies within its memory and over its link, gathers of rows, launches. Working
/// sets are at most `max_bytes`. Throws c10::Error if memory does not suffice. The host stands for a GPU in
/// tests.
std::vector<Probe> device_probes(c10::Device device, std::size_t max_bytes);

}  // namespace gnomon::profiles
