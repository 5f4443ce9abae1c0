#include "plan/job.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace gnomon::plan {
namespace {

void check_schedule(const Job& job, const std::string& where) {
  const Job defaults;
  if (job.lr_schedule != LrSchedule::step) {
    const auto refuse = [&](const char* field) {
      throw base::InputError(where + ": " + field, "has no effect without lr_schedule step");
    };
    if (job.lr_step_epochs != defaults.lr_step_epochs) {
      refuse("lr_step_epochs");
    }
    if (job.lr_decay != defaults.lr_decay) {
      refuse("lr_decay");
    }
  }
}

void check_metrics(const Job& job, const std::string& where) {
  if (job.metrics.empty()) {
    throw base::InputError(where + ": metrics", "must name at least one metric, such as accuracy");
  }
  for (const auto metric : job.metrics) {
    if (std::count(job.metrics.begin(), job.metrics.end(), metric) > 1) {
      throw base::InputError(where + ": metrics", "names " + std::string(base::name_of(metric)) + " twice");
    }
  }
}

}  // namespace

double learning_rate(const Job& job, std::int64_t epoch) {
  const auto warmup = static_cast<std::int64_t>(job.warmup_epochs);
  if (epoch < warmup) {
    return job.learning_rate * static_cast<double>(epoch + 1) / static_cast<double>(warmup);
  }
  const auto after = epoch - warmup;
  switch (job.lr_schedule) {
    case LrSchedule::constant:
      break;
    case LrSchedule::step:
      return job.learning_rate * std::pow(job.lr_decay, static_cast<double>(after / job.lr_step_epochs));
    case LrSchedule::cosine: {
      const double share = static_cast<double>(after) / static_cast<double>(job.epochs - warmup);
      return job.learning_rate * (1 + std::cos(std::numbers::pi * share)) / 2;
    }
  }
  return job.learning_rate;
}

bool depends_on_epochs(LrSchedule schedule) { return schedule == LrSchedule::cosine; }

void check(const Job& job, const std::string& where) {
  if (job.fanouts.empty() || job.fanouts.size() > 16) {
    throw base::InputError(where + ": fanouts", "must have 1 to 16 numbers, one per layer");
  }
  for (const int fanout : job.fanouts) {
    if (fanout == 0 || fanout < -1) {
      throw base::InputError(
          where + ": fanouts",
          std::to_string(fanout) + " draws nothing; use 1 to 512, or -1 for all neighbours");
    }
  }
  if (job.model == ModelKind::gat && job.hidden % job.heads != 0) {
    throw base::InputError(where + ": heads", std::to_string(job.heads) +
                                                  " does not divide hidden = " + std::to_string(job.hidden));
  }
  check_schedule(job, where);
  check_metrics(job, where);
}

}  // namespace gnomon::plan
