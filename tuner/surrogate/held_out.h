#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tuner/models/boosted_trees.h"

namespace gnomon::tuner {

/// Training data: rows of inputs with a value each, and the group with which each row is held out.
struct LearningRows {
  std::vector<std::vector<double>> rows;
  std::vector<double> values;
  std::vector<std::string> groups;
};

/// The error on held-out data.
struct HeldOut {
  double r2 = 0;         ///< 1 - squared errors over squared distances from the mean
  double rms_error = 0;  ///< root of the mean squared error
};

/// Learns from rows and predicts the values of others.
using TellOthers = std::function<std::vector<Normal>(const LearningRows& known,
                                                     const std::vector<std::vector<double>>& others)>;

/// Cross-validation in five folds of groups (one fold for each group if there are fewer than five).
/// Precondition: at least two groups.
HeldOut hold_out(const LearningRows& all, const TellOthers& tell);
/// Cross-validation of boosted trees.
HeldOut hold_out(const LearningRows& all, const TreesOptions& options);

}  // namespace gnomon::tuner
