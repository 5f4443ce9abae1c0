#include "tuner/evaluate.h"

#include <iterator>

#include "base/processes.h"
#include "sim/predict.h"

namespace gnomon::tuner {

EvaluateOn simulate_in(int processes) {
  // Created once here; forked processes inherit it.
  return [processes, simulator = sim::Simulator()](const profiles::Profile& profile,
                                                   const std::vector<plan::Plan>& plans) mutable {
    const auto predict_one = [&](std::int64_t number) {
      return sim::pack(sim::predict(simulator, profile, plans[static_cast<std::size_t>(number)]));
    };
    std::vector<sim::Prediction> predictions;
    for (const auto& packet : base::in_processes(std::ssize(plans), processes, predict_one, {}, "tuning")) {
      predictions.push_back(sim::unpack(packet));
    }
    return predictions;
  };
}

}  // namespace gnomon::tuner
