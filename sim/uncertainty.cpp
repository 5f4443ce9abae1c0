#include "sim/uncertainty.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/error.h"
#include "sim/predict.h"

namespace gnomon::sim {
namespace {

using profiles::StageTime;
using profiles::WorkloadProfile;

struct NamedStage {
  const char* name;
  StageTime WorkloadProfile::*time;
};

/// Relative half width of a confidence interval above which a stage time is unusable.
constexpr double worthless_interval = 2;

constexpr std::array<NamedStage, 4> stages{{{"CPU batching", &WorkloadProfile::cpu_batch},
                                            {"transfer", &WorkloadProfile::transfer},
                                            {"device batching", &WorkloadProfile::device_batch},
                                            {"training", &WorkloadProfile::train}}};

}  // namespace

std::optional<double> epoch_interval_s(const profiles::Profile& profile, const plan::Plan& plan) {
  const double epoch_s = predict_quickly(profile, plan).epoch_s;
  if (!std::isfinite(epoch_s)) {
    return std::nullopt;
  }
  double squares = 0;
  bool has_interval = false;
  for (const auto& stage : stages) {
    auto moved = profile;
    auto& time = moved.workload.*stage.time;
    if (time.interval_s > 0) {
      has_interval = true;
      time.mean_s += time.interval_s;
      squares += std::pow(predict_quickly(moved, plan).epoch_s - epoch_s, 2);
    }
  }
  return has_interval ? std::optional(std::sqrt(squares)) : std::nullopt;
}

void check_precision(const profiles::Profile& profile, const std::string& where) {
  for (const auto& [name, member] : stages) {
    const StageTime& time = profile.workload.*member;
    if (time.mean_s > 0 && time.interval_s >= worthless_interval * time.mean_s) {
      char text[160];
      std::snprintf(text, sizeof text,
                    "%s took %.3g s ± %.0f %% in %lld samples: too uncertain to predict with", name,
                    time.mean_s, 100 * time.interval_s / time.mean_s, static_cast<long long>(time.samples));
      throw base::InputError(where, std::string(text) +
                                        "; measure again with a longer --time-limit of gnomon "
                                        "profile, or of gnomon machine if the profile was moved");
    }
  }
}

}  // namespace gnomon::sim
