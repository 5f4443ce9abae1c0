#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "plan/plan.h"
#include "runtime/host_machine.h"
#include "runtime/stages.h"
#include "runtime/training/stretch.h"
#include "schedule/timeline.h"

namespace gnomon::runtime {

/// Runs the stretches of a training one after another. Successive stretches whose plans need the same threads
/// share them, so that they stay warm.
class StretchRunner {
 public:
  /// `stages` must outlive it. `before_stage`, if not empty, is called at the start of each stage, on its
  /// thread, with the batch or group (TrainOptions::before_stage).
  StretchRunner(Stages& stages, std::function<void(schedule::Stage, std::int64_t)> before_stage);

  /// Trains the batches in `order` of `epoch` by the stretch's plan. `hot` and `first` are those of
  /// Stages::begin_epoch(). Throws what the stages throw.
  StretchReport run(const Stretch& stretch, std::int64_t epoch, const std::vector<std::int64_t>& order,
                    HotEmbeddings* hot, std::int64_t first);

 private:
  StageWork work();
  std::unique_ptr<HostMachine> take_machine(const plan::Plan& plan);
  void learn_times(const schedule::StageTimes& times);

  Stages& stages_;
  std::function<void(schedule::Stage, std::int64_t)> before_stage_;
  plan::Plan plan_;                       ///< of the last stretch, if there is a machine
  schedule::StageTimes usual_{};          ///< of stages, as far as they have run
  std::unique_ptr<HostMachine> machine_;  ///< of the last stretch; declared after what its threads use
};

}  // namespace gnomon::runtime
