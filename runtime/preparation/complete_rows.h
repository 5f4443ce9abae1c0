#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/device/gather.h"
#include "runtime/batch/batch_data.h"

namespace gnomon::runtime {

/// The features of a batch of which a device's cache holds some rows (BatchData::split): copies the others to
/// the device and puts both together, (vertices, columns) in the graph's type. Waits for the device. `cached`
/// is what the device reads cached rows from. `H` fulfils Hardware (runtime/preparation/hardware.h).
template <class H>
at::Tensor complete_rows(H& hardware, const BatchData& data, const kernels::device::Rows& cached);

}  // namespace gnomon::runtime
