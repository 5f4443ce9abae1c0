#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "kernels/device/step_state.h"
#include "nn/graphs/launch_graph.h"
#include "nn/graphs/learned_room.h"
#include "nn/graphs/padded_batch.h"
#include "nn/tensor_batch.h"

namespace gnomon::nn {

/// Trains each mini-batch by two launches: one copies it into a padded mini-batch, the other replays the
/// recorded launches of a training step on the padded one. They are recorded with the first mini-batch after
/// the epoch from which the padded sizes were learned.
class StepGraphs {
 public:
  /// Launches one half of a step on the padded batch: both passes, or the optimiser's update. May be called
  /// several times.
  using Launch = std::function<void(const PaddedBatch& batch)>;

  /// Takes the next mini-batch. Returns whether run() can train it: it fits into the learned capacity, its
  /// features are gathered, and it reuses no embeddings.
  bool take(const TensorBatch& batch, std::int64_t epoch);
  /// Starts a step on the current stream. Precondition: take() has returned true for the batch.
  void run(const TensorBatch& batch, const kernels::device::StepState& state, const Launch& backward,
           const Launch& update);

  /// Discards the recording: its tensors were replaced.
  void forget() { recorded_.reset(); }

  LearnedRoom& room() { return room_; }
  const LearnedRoom& room() const { return room_; }

 private:
  struct Recorded {
    Recorded(const BatchShape& shape, const TensorBatch& like);
    BatchShape room;
    PaddedBatch batch;
    std::unique_ptr<LaunchGraph> graph;  ///< reads the batch
  };

  void record(const TensorBatch& batch, const Launch& backward, const Launch& update);

  LearnedRoom room_;
  std::optional<Recorded> recorded_;
};

}  // namespace gnomon::nn
