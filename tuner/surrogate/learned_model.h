#pragma once

#include <cstdint>
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

/// Describes a value outside the learned range, as in "graph.vertices: 5e6 is over 1e6"; empty if it is
/// inside.
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
  /// Root mean square error of the same predictions; absent in files of earlier versions.
  std::optional<double> held_out_error{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("members", self.members);
    f.required("importance", self.importance, base::Range{0, 1});
    f.required("held_out_r2", self.held_out_r2);
    f("trend", self.trend);
    f("held_out_error", self.held_out_error, base::non_negative);
  }
};

/// How far a model is trusted on unseen data.
enum class Trust : std::uint8_t {
  none,  ///< held-out R2 of 0 or less: it predicts no better than the mean of what was learned
  weak,  ///< R2 under 0.5: it explains less than half of the variance
  good,
};
Trust trust_of(const LearnedModel& model);

/// A prediction's error: at least the held-out error, doubled (about a 95 % interval) unless the trust is
/// good. `spread` is what the model itself is unsure of.
double error_of(const LearnedModel& model, double spread);

/// "R2 -0.29, no better than the mean of what was learned", if the trust is not good; empty otherwise.
std::string doubt_of(const LearnedModel& model);

/// Whether the inputs have these names in this order, and the model has that many inputs.
bool goes_with(const std::vector<LearnedInput>& inputs, const LearnedModel& model,
               const std::vector<std::string>& names);

}  // namespace gnomon::tuner
