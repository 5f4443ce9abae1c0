#include "tuner/run/turns.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/normal.h"
#include "profiles/measure/statistics.h"
#include "sim/predict.h"
#include "sim/uncertainty.h"
#include "tuner/sensitivity.h"

namespace gnomon::tuner {
namespace {

/// Pinned slots of mini-batches; none in front of a device in the host's memory.
std::int64_t slots_of(const plan::Plan& plan, plan::DeviceKind device) {
  const bool uses_slots = plan::has_link(device) && plan.uses_cpu_route();
  return uses_slots ? plan.workers + plan.cpu_buffer + plan.batches_ahead_on_device() + 1 : 0;
}

}  // namespace

std::vector<Entrant> entrants_of(const std::vector<plan::Plan>& plans, const profiles::Profile& profile,
                                 sim::Simulator& simulator, std::int64_t& turn_batches) {
  const std::int64_t epoch_batches = profile.workload.batches;
  const auto predicted_s = [&](const plan::Plan& plan, std::int64_t batches) {
    return sim::predict(simulator, shortened(profile, batches), plan).epoch_s;
  };
  std::vector<Entrant> entrants;
  for (const auto& plan : plans) {
    entrants.push_back({plan, predicted_s(plan, epoch_batches), 0, 0});
    const auto needed = turn_batches_of(epoch_batches, entrants.back().epoch_s,
                                        [&](std::int64_t batches) { return predicted_s(plan, batches); });
    const double batch_s = entrants.back().epoch_s / static_cast<double>(epoch_batches);
    const auto telling = std::isfinite(batch_s) && batch_s > 0
                             ? static_cast<std::int64_t>(std::ceil(RaceTerms{}.min_turn_s / batch_s))
                             : 0;
    turn_batches = std::max({turn_batches, needed, telling, 2 * slots_of(plan, profile.machine.device.kind)});
  }
  turn_batches = std::min(turn_batches, epoch_batches);
  const auto first = plans.empty() ? std::nullopt : sim::epoch_errors(profile, plans.front());
  for (auto& entrant : entrants) {
    entrant.turn_s = predicted_s(entrant.plan, turn_batches);
    if (const auto errors = first ? sim::epoch_errors(profile, entrant.plan) : std::nullopt) {
      entrant.deviation =
          sim::difference_interval_s(*errors, *first) / base::normal_half_width / first->epoch_s;
    }
  }
  return entrants;
}

double relative_error(const std::vector<schedule::StageSpan>& timeline) {
  std::vector<double> ends;
  for (const auto& span : timeline) {
    if (span.stage == schedule::Stage::train) {
      ends.push_back(span.end_s);
    }
  }
  profiles::Series steps;
  for (std::size_t i = 2; i < ends.size(); ++i) {
    steps.add(ends[i] - ends[i - 1]);
  }
  return steps.count() < 2 ? 0 : steps.deviation() / steps.mean() / std::sqrt(steps.count());
}

}  // namespace gnomon::tuner
