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

/// Both passes run once before, on a mini-batch without seeds, so that libraries and kernels are loaded,
/// which must not happen while launches are recorded.
void StepGraphs::record(const TensorBatch& batch, const Launch& backward, const Launch& update) {
  recorded_.reset();  // first, so that its memory can be used again
  recorded_.emplace(room_.shape(), batch);
  recorded_->batch.fill(batch, {});
  backward(recorded_->batch);
  recorded_->graph->record([&] {
    backward(recorded_->batch);
    update(recorded_->batch);
  });
}

}  // namespace gnomon::nn
