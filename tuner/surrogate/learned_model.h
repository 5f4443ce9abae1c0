#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "tuner/surrogate/learned_trend.h"

namespace gnomon::tuner {

/// One input of a learned model and its range in the training data.
struct LearnedInput {
  std::string name;  ///< "graph.vertices", "plan.workers"
  double least = 0;  ///< smallest value that was learned
  double most = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("name", self.name);
    f.required("least", self.least);
    f.required("most", self.most);
  }
};

/// How a value lies outside the learned range, as in "graph.vertices: 5e6 is over 1e6"; empty if it does not.
std::string outside_text(const LearnedInput& input, double value);

/// The inputs with these names and the ranges of their columns.
std::vector<LearnedInput> ranges_of(const std::vector<std::string>& names,
                                    const std::vector<std::vector<double>>& rows);

/// A model of one number: boosted trees, on the residuals of a trend if there is one.
struct LearnedModel {
  std::vector<std::string> members;  ///< XGBoost's JSON texts
  std::vector<double> importance;    ///< of each input; adds up to 1
  double held_out_r2 = 0;            ///< by cross-validation in five folds
  std::optional<LearnedTrend> trend;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("members", self.members);
    f.required("importance", self.importance, base::Range{0, 1});
    f.required("held_out_r2", self.held_out_r2);
    f("trend", self.trend);
  }
};

/// Whether the inputs have these names in this order, and the model has that many inputs.
bool goes_with(const std::vector<LearnedInput>& inputs, const LearnedModel& model,
               const std::vector<std::string>& names);

}  // namespace gnomon::tuner
