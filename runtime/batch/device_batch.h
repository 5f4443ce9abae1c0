#pragma once

#include <cstdint>
#include <memory>

#include "nn/tensor_batch.h"
#include "runtime/batch/device_work.h"
#include "runtime/batch/slot_pool.h"

namespace gnomon::runtime {

struct SplitBottom;

/// The size of a mini-batch.
struct BatchSize {
  std::int64_t vertices = 0;
  std::int64_t edges = 0;
  std::int64_t bytes = 0;  ///< that a transfer of the batch copies
};

/// A mini-batch on the device that trains on it: in tensors of the device's own memory, or, on a device that
/// trains in the host's memory, in a host slot.
struct DeviceBatch {
  nn::TensorBatch tensors;  ///< empty if the batch lies in `slot`
  /// int64, ids in the graph that the batch was drawn from; defined only for tensors without features, and of
  /// plans that reuse the embeddings of halos.
  at::Tensor vertices;
  Slot slot;  ///< null if the batch lies in `tensors`
  BatchSize size;
  std::shared_ptr<const SplitBottom> bottom{};  ///< null unless the plan reuses rows of the first layer
  /// Where the tensors are complete, if a stage may have to be ordered after it by the device.
  std::shared_ptr<const DeviceMark> ready{};
  DeviceWorkPtr work{};  ///< that produces the tensors; the train stage is ordered after it
};

/// A device batch on the slot's own memory.
DeviceBatch in_slot(Slot slot);

/// The batch as a model reads it: tensors that share its memory, which must outlive them.
nn::TensorBatch tensors_of(const DeviceBatch& batch);

}  // namespace gnomon::runtime
