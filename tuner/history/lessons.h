#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/vocabulary.h"
#include "profiles/learned_corrections.h"
#include "profiles/machine_key.h"
#include "profiles/profile.h"
#include "tuner/history/outcomes.h"

namespace gnomon::tuner {

/// How well a stage is predicted with corrections that were learned from other runs.
struct StageLesson {
  std::string stage;
  std::int64_t rows = 0;    ///< plans of runs that had the stage on this machine
  std::int64_t groups = 0;  ///< graphs or runs that were held out
  /// Root mean square errors of the time's logarithm in held-out runs: as predicted, and corrected.
  double error_before = 0, error_after = 0;
  /// Whether the correction helped: it lowers the mean squared error of a group by more than the half width
  /// of the 95 % confidence interval of its mean over at least min_lessons groups.
  bool helps = false;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("stage", self.stage);
    f.required("rows", self.rows, base::non_negative);
    f.required("groups", self.groups, base::non_negative);
    f.required("error_before", self.error_before, base::non_negative);
    f.required("error_after", self.error_after, base::non_negative);
    f.required("helps", self.helps);
  }
};

/// The fewest graphs or runs that a correction is judged by.
inline constexpr std::int64_t min_lessons = 5;

/// Cross-validates corrections of each stage, learned by boosted trees (XGBoost) from outcomes, in up to five
/// folds of graphs, with this machine's outcomes on such a device. Other machines' outcomes are always
/// learned from, never held out. Stages without rows have no lesson.
std::vector<StageLesson> lessons_of(const std::vector<Outcomes>& history, const profiles::MachineKey& machine,
                                    plan::DeviceKind device);

/// The corrections for this profile's job by the lessons that help. Where there are at least min_lessons runs
/// on its graph, single runs on it are held out instead of graphs. None if none helps.
std::optional<profiles::LearnedCorrections> learned_corrections(const std::vector<Outcomes>& history,
                                                                const profiles::MachineKey& machine,
                                                                const profiles::Profile& profile);

}  // namespace gnomon::tuner
