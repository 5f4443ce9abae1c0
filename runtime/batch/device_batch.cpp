#include "runtime/batch/device_batch.h"

#include <utility>

#include "runtime/batch/batch_tensors.h"

namespace gnomon::runtime {

DeviceBatch in_slot(Slot slot) {
  DeviceBatch batch;
  batch.size = {std::ssize(slot->batch.vertices), slot->batch.num_edges(), slot->bytes()};
  batch.slot = std::move(slot);
  return batch;
}

nn::TensorBatch tensors_of(const DeviceBatch& batch) {
  return batch.slot ? view_of(*batch.slot) : batch.tensors;
}

}  // namespace gnomon::runtime
