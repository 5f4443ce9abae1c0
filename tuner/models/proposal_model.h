#pragma once

#include <memory>
#include <vector>

#include "tuner/models/gaussian_process.h"
#include "tuner/space/space.h"

namespace gnomon::tuner {

/// Learns one number of encoded plans (Space::encode) and predicts it for others, so that a search can
/// propose what to evaluate next.
class ProposalModel {
 public:
  virtual ~ProposalModel() = default;
  /// Replaces everything learned before. Returns the logarithm of the values' marginal likelihood, by which
  /// models of the same samples can be compared; 0 for models without one.
  virtual double learn(const std::vector<std::vector<double>>& codes, const std::vector<double>& values) = 0;
  /// Predictions for encoded plans. Precondition: learn() was called.
  virtual std::vector<Normal> at(const std::vector<std::vector<double>>& codes) const = 0;
};

/// A Gaussian process on the dimensions in which a space's plans differ. Its kernel is fitted again when
/// there are a fifth more samples than at the last fit.
std::unique_ptr<ProposalModel> make_gaussian_model(const Space& space);

/// Boosted trees (boosted_trees.h).
std::unique_ptr<ProposalModel> make_trees_model(std::uint64_t seed);

}  // namespace gnomon::tuner
