#include "tuner/search/candidate.h"

#include <utility>

#include "tuner/space/space.h"

namespace gnomon::tuner {

EvaluateAll one_by_one(Evaluate evaluate) {
  return [evaluate = std::move(evaluate)](const std::vector<plan::Plan>& plans) {
    std::vector<sim::Prediction> predictions;
    for (const plan::Plan& plan : plans) {
      predictions.push_back(evaluate(plan));
    }
    return predictions;
  };
}

bool is_better(const Candidate& a, const Candidate& b) {
  return std::pair(a.prediction.epoch_s, resources(a.plan)) <
         std::pair(b.prediction.epoch_s, resources(b.plan));
}

}  // namespace gnomon::tuner
