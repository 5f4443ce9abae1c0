#include "sim/period.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

namespace gnomon::sim {
namespace {

using schedule::Stage;
using schedule::StageSpan;

/// The device that trained a batch, and the times of its stages relative to the start of its training.
struct Update {
  int device = 0;
  double begin_s = 0;
  std::array<double, 10> offsets_s{};
};

/// The index in offsets_s of a stage of a single batch; none for stages of several batches.
int place_of(Stage stage) {
  switch (stage) {
    case Stage::cpu_batch:
      return 0;
    case Stage::transfer:
      return 2;
    case Stage::device_batch:
      return 4;
    case Stage::device_gather:
      return 6;
    case Stage::train:
      return 8;
    default:
      return -1;
  }
}

/// The end of a batch's training.
constexpr std::size_t trained_place = 9;

constexpr Stage own_stages[] = {Stage::cpu_batch, Stage::transfer, Stage::device_batch, Stage::device_gather,
                                Stage::train};

struct Updates {
  std::vector<Update> all;         ///< in the order of the starts of their trainings
  double last_claim_s = 0;         ///< start of the last batch's preparation
  double first_open_s = HUGE_VAL;  ///< start of the first untrained batch's preparation
};

Updates updates_of(const std::vector<StageSpan>& timeline) {
  Updates updates;
  std::unordered_map<std::int64_t, std::array<double, 10>> dates;
  for (const StageSpan& span : timeline) {
    const int place = place_of(span.stage);
    if (place >= 0) {
      auto& batch = dates[span.batch];
      batch[static_cast<std::size_t>(place)] = span.begin_s;
      batch[static_cast<std::size_t>(place) + 1] = span.end_s;
    }
    if (span.stage == Stage::cpu_batch || span.stage == Stage::device_batch) {
      updates.last_claim_s = std::max(updates.last_claim_s, span.begin_s);
    }
  }
  for (const StageSpan& span : timeline) {
    if (span.stage == Stage::train) {
      Update& update = updates.all.emplace_back(Update{span.device, span.begin_s, dates[span.batch]});
      for (double& date : update.offsets_s) {
        // 0 means the batch has no such stage.
        date = date == 0 ? 0 : date - span.begin_s;
      }
    }
  }
  for (const StageSpan& span : timeline) {
    const int place = place_of(span.stage);
    if (place >= 0 && dates[span.batch][trained_place] == 0) {
      updates.first_open_s = std::min(updates.first_open_s, span.begin_s);
    }
  }
  return updates;
}

/// The maximum difference between the stage times of two updates; infinite on different devices.
double difference_s(const Update& a, const Update& b) {
  if (a.device != b.device) {
    return HUGE_VAL;
  }
  double max_s = 0;
  for (std::size_t i = 0; i < a.offsets_s.size(); ++i) {
    max_s = std::max(max_s, std::abs(a.offsets_s[i] - b.offsets_s[i]));
  }
  return max_s;
}

double claim_s(const Update& update) {
  // 0 for the route that was not taken.
  return update.begin_s + std::min(update.offsets_s[0], update.offsets_s[4]);
}

/// Whether [first, last] covers the pipeline's depth: batches started before its middle were trained within
/// it, and batches trained after its middle were started within it.
bool shows_everything(const Updates& updates, std::int64_t first, std::int64_t last) {
  const auto& all = updates.all;
  const auto begin_s = [&](std::int64_t i) { return all[static_cast<std::size_t>(i)].begin_s; };
  const std::int64_t middle = (first + last) / 2;
  if (updates.first_open_s < begin_s(middle)) {
    return false;
  }
  for (std::int64_t i = middle; i < std::ssize(all); ++i) {
    const double min_s = begin_s(i <= last ? first : middle);
    if (claim_s(all[static_cast<std::size_t>(i)]) < min_s) {
      return false;
    }
  }
  return true;
}

/// The error of `length` updates as a period of [first, last). Stops early if it exceeds `enough_s`.
Period try_period(const std::vector<Update>& all, std::int64_t first, std::int64_t last, std::int64_t length,
                  double enough_s) {
  const auto at = [&](std::int64_t i) -> const Update& { return all[static_cast<std::size_t>(i)]; };
  const std::int64_t periods = (last - first) / length;
  const double whole_s = at(last).begin_s - at(last - periods * length).begin_s;
  Period period{.updates = length, .seconds = whole_s / static_cast<double>(periods)};
  for (std::int64_t i = last; i >= first + length && period.error_s <= enough_s; --i) {
    const double passed_s = at(i).begin_s - at(i - length).begin_s;
    period.error_s =
        std::max({period.error_s, std::abs(passed_s - period.seconds), difference_s(at(i), at(i - length))});
  }
  return period;
}

/// The stage times of the period's batches, averaged over all periods before `last`.
void count_stages(Period& period, const std::vector<Update>& all, std::int64_t first, std::int64_t last) {
  const std::int64_t periods = (last - first) / period.updates;
  for (std::int64_t i = last - periods * period.updates; i < last; ++i) {
    const auto& offsets_s = all[static_cast<std::size_t>(i)].offsets_s;
    for (const Stage stage : own_stages) {
      const auto place = static_cast<std::size_t>(place_of(stage));
      const double seconds = offsets_s[place + 1] - offsets_s[place];
      period.counts[static_cast<std::size_t>(stage)] +=
          (seconds > 0 ? 1.0 : 0.0) / static_cast<double>(periods);
      period.busy_s[static_cast<std::size_t>(stage)] += seconds / static_cast<double>(periods);
    }
  }
}

/// Stages of several batches: their running time in the interval, divided among the periods.
void count_common_stages(Period& period, const std::vector<StageSpan>& timeline, double begin_s,
                         double end_s) {
  for (const StageSpan& span : timeline) {
    if (place_of(span.stage) < 0) {
      const double inside_s = std::min(span.end_s, end_s) - std::max(span.begin_s, begin_s);
      period.busy_s[static_cast<std::size_t>(span.stage)] +=
          std::max(0.0, inside_s) * period.seconds / (end_s - begin_s);
    }
  }
}

}  // namespace

std::optional<Period> find_period(const std::vector<StageSpan>& timeline, std::int64_t updates,
                                  double tolerance) {
  const Updates found = updates_of(timeline);
  const auto& all = found.all;
  const auto last_steady = std::find_if(
      all.begin(), all.end(), [&](const Update& update) { return update.begin_s >= found.last_claim_s; });
  const std::int64_t last = last_steady - all.begin() - 1;
  const std::int64_t first = last / 3;
  if (first < 1 || !shows_everything(found, first, last)) {
    return std::nullopt;
  }
  for (std::int64_t length = 1; 3 * length <= last - first; ++length) {
    const double repeats = static_cast<double>(updates) / static_cast<double>(length);
    const double whole_s = all[static_cast<std::size_t>(last)].begin_s / static_cast<double>(last) *
                           static_cast<double>(updates);
    const double enough_s = tolerance * whole_s / repeats;
    Period period = try_period(all, first, last, length, enough_s);
    if (period.error_s <= enough_s) {
      count_stages(period, all, first, last);
      const std::int64_t seen = (last - first) / length * length;
      count_common_stages(period, timeline, all[static_cast<std::size_t>(last - seen)].begin_s,
                          all[static_cast<std::size_t>(last)].begin_s);
      return period;
    }
  }
  return std::nullopt;
}

bool can_repeat(const plan::Plan& plan) {
  return plan.schedule != plan::Schedule::mixed && plan.schedule != plan::Schedule::macro_batch;
}

std::int64_t min_batches_for_period(const plan::Plan& plan) {
  const std::int64_t ahead = plan.schedule == plan::Schedule::claim_ahead   ? plan.look_ahead
                             : plan.schedule == plan::Schedule::super_batch ? plan.super_batch
                                                                            : 0;
  const std::int64_t in_flight =
      plan.workers + std::max(1, plan.devices) * (2 + plan.cpu_buffer + plan.device_buffer + ahead);
  return std::max<std::int64_t>(48, 4 * in_flight);
}

}  // namespace gnomon::sim
