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
  int rounds = 40;    ///< trees a model
  int depth = 4;      ///< of a tree
  double rate = 0.2;  ///< share of what each tree finds that is kept
  std::uint64_t seed = 0;
};

/// Gradient-boosted regression trees (XGBoost): members trained on bootstrap samples, whose mean predicts and
/// whose variance tells how far they disagree. Same rows, options and library: same model.
class BoostedTrees {
 public:
  /// `rows` are all of one length; NaN stands for a value that does not apply. Throws base::Failure with
  /// XGBoost's message.
  BoostedTrees(const std::vector<std::vector<double>>& rows, const std::vector<double>& values,
               const TreesOptions& options);
  ~BoostedTrees();
  BoostedTrees(BoostedTrees&&) noexcept;
  BoostedTrees& operator=(BoostedTrees&&) noexcept;

  std::vector<Normal> at(const std::vector<std::vector<double>>& rows) const;

  /// How much each column's splits improved the fit, of all columns together 1; 0 for one that is never
  /// split.
  std::vector<double> importance() const;

  /// The members as XGBoost's own JSON texts, and back. Throws InputError where a text is none of its models.
  std::vector<std::string> save() const;
  static BoostedTrees load(const std::vector<std::string>& members, std::size_t columns);

 private:
  BoostedTrees();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gnomon::tuner
