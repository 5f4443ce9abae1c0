#pragma once

#include <memory>
#include <vector>

#include "tuner/models/gaussian_process.h"
#include "tuner/space/space.h"

namespace gnomon::tuner {

/// Learns one number of encoded plans (Space::encode) and predicts it for others.
class Surrogate {
 public:
  virtual ~Surrogate() = default;
  /// Replaces what it knows. Returns the logarithm of the probability that it gives to the values as they
  /// came, by which models of the same samples can be compared; 0 where there is none.
  virtual double learn(const std::vector<std::vector<double>>& codes, const std::vector<double>& values) = 0;
  virtual std::vector<Normal> at(const std::vector<std::vector<double>>& codes) const = 0;
};

/// A Gaussian process over the dimensions of a space that can differ. Its kernel is fitted again whenever
/// there are a fifth more samples than at the last time.
std::unique_ptr<Surrogate> make_gaussian_surrogate(const Space& space);

/// Boosted trees (boosted_trees.h).
std::unique_ptr<Surrogate> make_trees_surrogate(std::uint64_t seed);

}  // namespace gnomon::tuner
