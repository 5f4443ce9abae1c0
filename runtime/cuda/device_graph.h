#pragma once

#include "kernels/cuda/executor.h"
#include "plan/plan.h"
#include "runtime/device/batch_maker.h"
#include "runtime/placement.h"

namespace gnomon::runtime::cuda {

/// The graph where the plan wants it: structure, with weights and alias tables where neighbours are drawn by
/// them, and features in the device's memory ("device") or mapped in the host's ("host"); labels in the
/// device's. `placed` must outlive it.
DeviceGraph place_on_device(const PlacedGraph& placed, const plan::Plan& plan,
                            kernels::cuda::Executor& executor);

}  // namespace gnomon::runtime::cuda
