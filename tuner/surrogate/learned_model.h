#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "tuner/surrogate/learned_trend.h"

namespace gnomon::tuner {

/// One number that a learned model is told.
struct LearnedInput {
  std::string name;  ///< "graph.vertices", "plan.workers"
  double least = 0;  ///< in what was learned
  double most = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("name", self.name);
    f.required("least", self.least);
    f.required("most", self.most);
  }
};

/// Where a value lies beyond what was learned, "graph.vertices: 5e6 is over 1e6"; empty where it does not.
std::string outside_text(const LearnedInput& input, double value);

/// The inputs with these names, and the ranges of their columns.
std::vector<LearnedInput> ranges_of(const std::vector<std::string>& names,
                                    const std::vector<std::vector<double>>& rows);

/// A model of one number: boosted trees, of what a trend does not explain where there is one.
struct LearnedModel {
  std::vector<std::string> members;  ///< XGBoost's own texts
  std::vector<double> importance;    ///< of each input, of all together 1
  double held_out_r2 = 0;            ///< on what the model had not seen (a fifth at a time)
  std::optional<LearnedTrend> trend;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("members", self.members);
    f.required("importance", self.importance, base::Range{0, 1});
    f.required("held_out_r2", self.held_out_r2);
    f("trend", self.trend);
  }
};

/// Whether inputs have these names, in this order, and the model is for so many.
bool goes_with(const std::vector<LearnedInput>& inputs, const LearnedModel& model,
               const std::vector<std::string>& names);

}  // namespace gnomon::tuner
