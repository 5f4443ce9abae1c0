#include "nn/graphs/step_graphs.h"

#include "nn/cuda/kernels.h"

namespace gnomon::nn {

StepGraphs::Recorded::Recorded(const BatchShape& shape, const TensorBatch& like)
    : room(shape), batch(shape, like), graph(cuda_launch_graph()) {}

bool StepGraphs::take(const TensorBatch& batch, std::int64_t epoch) {
  return batch.features.defined() && batch.reused == nullptr && room_.take(shape_of(batch), epoch);
}

void StepGraphs::run(const TensorBatch& batch, const kernels::device::StepState& state,
                     const Launch& backward, const Launch& update) {
  if (!recorded_ || recorded_->room != room_.shape()) {
    record(batch, backward, update);
  }
  recorded_->batch.fill(batch, state);
  recorded_->graph->replay();
}

/// First runs both passes once on a mini-batch without seeds: libraries and kernels are loaded at their first
/// use, which must not happen during a recording.
void StepGraphs::record(const TensorBatch& batch, const Launch& backward, const Launch& update) {
  recorded_.reset();  // before the new recording, which can then reuse its memory
  recorded_.emplace(room_.shape(), batch);
  recorded_->batch.fill(batch, {});
  backward(recorded_->batch);
  recorded_->graph->record([&] {
    backward(recorded_->batch);
    update(recorded_->batch);
  });
}

}  // namespace gnomon::nn
