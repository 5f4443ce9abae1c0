#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tuner/models/boosted_trees.h"

namespace gnomon::tuner {

/// What models learn: rows of inputs, a value for each, and the group that it is held out with.
struct LearningRows {
  std::vector<std::vector<double>> rows;
  std::vector<double> values;
  std::vector<std::string> groups;
};

/// How far models are from what they were not shown.
struct HeldOut {
  double r2 = 0;         ///< 1 - squared errors over squared distances from the mean
  double rms_error = 0;  ///< root of the mean squared error
};

/// Learns from rows and tells the values of others.
using TellOthers = std::function<std::vector<Normal>(const LearningRows& known,
                                                     const std::vector<std::vector<double>>& others)>;

/// Lets `tell` learn without a fifth of the groups at a time (without one where there are fewer than five),
/// and asks it about these. There must be two groups or more.
HeldOut hold_out(const LearningRows& all, const TellOthers& tell);
/// The same of trees alone.
HeldOut hold_out(const LearningRows& all, const TreesOptions& options);

}  // namespace gnomon::tuner
