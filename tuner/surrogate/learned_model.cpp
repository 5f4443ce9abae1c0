#include "tuner/surrogate/learned_model.h"

#include <algorithm>

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

bool goes_with(const std::vector<LearnedInput>& inputs, const LearnedModel& model,
               const std::vector<std::string>& names) {
  return model.importance.size() == names.size() &&
         (!model.trend || model.trend->weights.size() <= names.size()) &&
         std::equal(inputs.begin(), inputs.end(), names.begin(), names.end(),
                    [](const LearnedInput& input, const std::string& name) { return input.name == name; });
}

}  // namespace gnomon::tuner
