#pragma once

#include <functional>
#include <vector>

#include "plan/plan.h"
#include "sim/prediction.h"

namespace gnomon::tuner {

/// A plan and its prediction.
struct Candidate {
  plan::Plan plan;
  sim::Prediction prediction;
};

/// Predicts a plan, by the simulator or anything else.
using Evaluate = std::function<sim::Prediction(const plan::Plan&)>;

/// Predicts plans, in any order or at once: one prediction for each plan.
using EvaluateAll = std::function<std::vector<sim::Prediction>(const std::vector<plan::Plan>&)>;

/// Evaluates the plans one by one.
EvaluateAll one_by_one(Evaluate evaluate);

/// Whether `a` is better than `b`: faster, or equally fast with fewer resources.
bool is_better(const Candidate& a, const Candidate& b);

}  // namespace gnomon::tuner
