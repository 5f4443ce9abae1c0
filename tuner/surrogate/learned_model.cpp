#include "tuner/surrogate/learned_model.h"

#include <algorithm>
#include <cstdio>

namespace gnomon::tuner {

std::string outside_text(const LearnedInput& input, double value) {
  if (value >= input.least && value <= input.most) {
    return "";
  }
  const bool is_under = value < input.least;
  return input.name + ": " + base::Json(value).dump() + (is_under ? " is under " : " is over ") +
         base::Json(is_under ? input.least : input.most).dump();
}

std::vector<LearnedInput> ranges_of(const std::vector<std::string>& names,
                                    const std::vector<std::vector<double>>& rows) {
  std::vector<LearnedInput> inputs;
  for (std::size_t c = 0; c < names.size(); ++c) {
    const auto [least, most] = std::minmax_element(rows.begin(), rows.end(),
                                                   [c](const auto& a, const auto& b) { return a[c] < b[c]; });
    inputs.push_back({names[c], (*least)[c], (*most)[c]});
  }
  return inputs;
}

Trust trust_of(const LearnedModel& model) {
  constexpr double good_r2 = 0.5;
  return model.held_out_r2 <= 0 ? Trust::none : model.held_out_r2 < good_r2 ? Trust::weak : Trust::good;
}

double error_of(const LearnedModel& model, double spread) {
  const double error = std::max(spread, model.held_out_error.value_or(0));
  return trust_of(model) == Trust::good ? error : 2 * error;
}

std::string doubt_of(const LearnedModel& model) {
  char text[96];
  switch (trust_of(model)) {
    case Trust::none:
      std::snprintf(text, sizeof text, "R2 %.2f, no better than the mean of what was learned",
                    model.held_out_r2);
      return text;
    case Trust::weak:
      std::snprintf(text, sizeof text, "R2 %.2f, less than half of the variance", model.held_out_r2);
      return text;
    case Trust::good:
      break;
  }
  return "";
}

bool goes_with(const std::vector<LearnedInput>& inputs, const LearnedModel& model,
               const std::vector<std::string>& names) {
  return model.importance.size() == names.size() &&
         (!model.trend || model.trend->weights.size() <= names.size()) &&
         std::equal(inputs.begin(), inputs.end(), names.begin(), names.end(),
                    [](const LearnedInput& input, const std::string& name) { return input.name == name; });
}

}  // namespace gnomon::tuner
