#include "tuner/surrogate/held_out.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace gnomon::tuner {
namespace {

constexpr std::size_t max_folds = 5;

LearningRows part_of(const LearningRows& all, const std::set<std::string>& held_out, bool held) {
  LearningRows part;
  for (std::size_t i = 0; i < all.rows.size(); ++i) {
    if (held_out.contains(all.groups[i]) == held) {
      part.rows.push_back(all.rows[i]);
      part.values.push_back(all.values[i]);
    }
  }
  return part;
}

double mean_of(const std::vector<double>& values) {
  double mean = 0;
  for (const double value : values) {
    mean += value / static_cast<double>(values.size());
  }
  return mean;
}

}  // namespace

HeldOut hold_out(const LearningRows& all, const TellOthers& tell) {
  const std::set<std::string> names(all.groups.begin(), all.groups.end());
  const std::vector<std::string> groups(names.begin(), names.end());
  const std::size_t folds = std::min(max_folds, groups.size());
  const double mean = mean_of(all.values);
  double errors = 0;
  double distances = 0;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::set<std::string> without;
    for (std::size_t g = fold; g < groups.size(); g += folds) {
      without.insert(groups[g]);
    }
    const auto known = part_of(all, without, false);
    const auto asked = part_of(all, without, true);
    const auto found = tell(known, asked.rows);
    for (std::size_t i = 0; i < found.size(); ++i) {
      errors += std::pow(found[i].mean - asked.values[i], 2);
      distances += std::pow(asked.values[i] - mean, 2);
    }
  }
  return {distances > 0 ? 1 - errors / distances : 0,
          std::sqrt(errors / static_cast<double>(all.values.size()))};
}

HeldOut hold_out(const LearningRows& all, const TreesOptions& options) {
  return hold_out(all, [&](const LearningRows& known, const std::vector<std::vector<double>>& others) {
    return BoostedTrees(known.rows, known.values, options).at(others);
  });
}

}  // namespace gnomon::tuner
