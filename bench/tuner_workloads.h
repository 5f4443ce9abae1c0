#pragma once

#include "profiles/profile.h"
#include "sim/predict.h"
#include "sim/prediction.h"
#include "tuner/search/point_facts.h"
#include "tuner/search/strategy.h"

namespace gnomon::bench {

/// A random machine and graph with the space of its plans, at least 50,000 of them feasible: those that
/// gnomon runs where the number is even, all exact ones that can be simulated, on a coarser grid, where it is
/// odd.
struct Workload {
  explicit Workload(int id);

  sim::Prediction predict(const plan::Plan& plan) { return sim::predict(simulator, profile, plan); }

  int number;
  profiles::Profile profile;
  tuner::Space space;
  tuner::PointFacts facts;
  sim::Simulator simulator;
};

}  // namespace gnomon::bench
