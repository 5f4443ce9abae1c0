#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/device/gather.h"
#include "runtime/batch/batch_data.h"

namespace gnomon::runtime {

/// Returns the features (vertices, columns), in the graph's type, of a batch that omits cached rows
/// (BatchData::split): copies the others to the device and merges both. Waits for the device. `cached` are
/// the cached rows. `H` fulfils Hardware (runtime/preparation/hardware.h).
template <class H>
at::Tensor complete_rows(H& hardware, const BatchData& data, const kernels::device::Rows& cached);

}  // namespace gnomon::runtime
