#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tuner/models/gaussian_process.h"

namespace gnomon::tuner {

/// How an ensemble of boosted trees is trained.
struct TreesOptions {
  int members = 5;    ///< models, each on a bootstrap sample of the rows
  int rounds = 40;    ///< trees of a model
  int depth = 4;      ///< of a tree
  double rate = 0.2;  ///< learning rate
  std::uint64_t seed = 0;
};

/// An ensemble of gradient-boosted regression trees (XGBoost). Its members are trained on bootstrap samples;
/// their mean is the prediction and their variance its uncertainty. Deterministic for the same rows, options
/// and library.
class BoostedTrees {
 public:
  /// All rows have the same length; NaN marks a value that does not apply. Throws base::Failure with
  /// XGBoost's message.
  BoostedTrees(const std::vector<std::vector<double>>& rows, const std::vector<double>& values,
               const TreesOptions& options);
  ~BoostedTrees();
  BoostedTrees(BoostedTrees&&) noexcept;
  BoostedTrees& operator=(BoostedTrees&&) noexcept;

  std::vector<Normal> at(const std::vector<std::vector<double>>& rows) const;

  /// The share of each column's splits in the improvement of the fit; the shares add up to 1.
  std::vector<double> importance() const;

  /// The members as XGBoost's JSON texts, and back. Throws InputError if a text is not one of its models.
  std::vector<std::string> save() const;
  static BoostedTrees load(const std::vector<std::string>& members, std::size_t columns);

 private:
  BoostedTrees();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gnomon::tuner
