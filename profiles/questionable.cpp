#include "profiles/questionable.h"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace gnomon::profiles {

std::vector<QuestionableFactor> questionable_factors(const Contention& contention) {
  constexpr double noise = 0.01;
  std::vector<QuestionableFactor> factors;
  const auto look = [&](std::string_view field, const std::optional<double>& slowdown, base::Range) {
    if (slowdown && *slowdown < 1 - noise && field != "beside_crowded_team") {
      factors.push_back({std::string(field), *slowdown});
    }
  };
  Contention::fields(contention, look);
  return factors;
}

std::string text_of(const std::vector<QuestionableFactor>& factors) {
  std::string text;
  for (const auto& [field, value] : factors) {
    auto words = field;
    std::replace(words.begin(), words.end(), '_', ' ');
    char ratio[32];
    std::snprintf(ratio, sizeof ratio, " %.2fx", value);
    text += (text.empty() ? "" : ", ") + words + ratio;
  }
  return text.empty() ? ""
                      : "questionable: " + text +
                            "; a stage is not predicted to be faster than alone; profile again on an idle "
                            "machine\n";
}

}  // namespace gnomon::profiles
