#include "apps/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "apps/format.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/table.h"
#include "base/error.h"
#include "sim/costs.h"
#include "tuner/journal.h"

namespace gnomon::apps {
namespace {

std::string count_or_dash(int count) { return count == 0 ? "-" : std::to_string(count); }

std::string buffers_of(const plan::Plan& plan) {
  using plan::Schedule;
  switch (plan.schedule) {
    case Schedule::sequential:
      return "-";
    case Schedule::claim_ahead:
      return fmt::format("ahead {}", plan.look_ahead);
    default:
      return fmt::format("cpu {}, device {}", plan.cpu_buffer, plan.device_buffer);
  }
}

plan::Cores cores_of(const profiles::Profile& profile) {
  return {profile.machine.cpu.cores, profile.machine.device.kind == profiles::DeviceKind::host,
          profile.machine.device.count};
}

tuner::SpaceRequest request_of(const profiles::Profile& profile, const TuningOptions& options) {
  tuner::SpaceRequest request;
  request.cores = cores_of(profile);
  request.batches = profile.workload.batches;
  request.constraints.clear();
  if (!options.approximate) {
    request.constraints.push_back(tuner::exact_only());
  }
  if (!options.simulated) {
    request.constraints.push_back(tuner::runnable_only());
  }
  request.constraints.push_back(tuner::fits_memory(profile, options.limits));
  return request;
}

/// Limits that there are.
base::Json limits_document(const tuner::MemoryLimits& limits) {
  base::Json json = base::Json::object();
  if (std::isfinite(limits.host_bytes)) {
    json["host_memory_bytes"] = limits.host_bytes;
  }
  if (std::isfinite(limits.device_bytes)) {
    json["device_memory_bytes"] = limits.device_bytes;
  }
  return json;
}

/// All that a search depends on.
base::Json search_document(const profiles::Profile& profile, const TuningOptions& options) {
  return {{"strategy", std::string(base::name_of(options.strategy))},
          {"seed", options.seed},
          {"approximate", options.approximate},
          {"simulated", options.simulated},
          {"limits", limits_document(options.limits)},
          {"profile", base::write_value(profile)}};
}

/// The presets as published of which the profile tells enough and that may be taken, in the order of their
/// names.
std::vector<tuner::Candidate> preset_candidates(const tuner::SpaceRequest& request,
                                                const tuner::Evaluate& evaluate) {
  std::vector<tuner::Candidate> candidates;
  for (const auto& preset : plan::presets()) {
    const bool allowed =
        std::all_of(request.constraints.begin(), request.constraints.end(),
                    [&](const tuner::Constraint& constraint) { return constraint.why_not(preset).empty(); });
    if (!allowed) {
      continue;
    }
    try {
      const auto plan = plan::resolve(preset, request.cores, preset.name);
      candidates.push_back({plan, evaluate(plan)});
    } catch (const base::InputError&) {
      // This machine has not what the plan asks for, or the profile does not tell it.
    }
  }
  return candidates;
}

/// Also what a journal does not hold.
tuner::EvaluateAll with_memory(const profiles::Profile& profile, tuner::EvaluateAll evaluate) {
  return [&profile, evaluate = std::move(evaluate)](const std::vector<plan::Plan>& plans) {
    auto predictions = evaluate(plans);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      predictions[i].memory = sim::costs_of_plan(profile, sim::resolve_on(profile, plans[i])).memory;
    }
    return predictions;
  };
}

/// The fastest plan of each name, the fastest first.
std::vector<tuner::Candidate> best_of_each_name(std::vector<tuner::Candidate> candidates) {
  std::stable_sort(candidates.begin(), candidates.end(), tuner::is_better);
  std::vector<tuner::Candidate> kept;
  std::set<std::string> names;
  for (auto& candidate : candidates) {
    if (names.insert(candidate.plan.name).second) {
      kept.push_back(std::move(candidate));
    }
  }
  return kept;
}

}  // namespace

Tuning tune_with_bar(const profiles::Profile& profile, sim::Simulator& simulator,
                     const TuningOptions& options) {
  ProgressBar bar;
  const auto progress = interruptible(bar.progress(), stop_on_interrupt());
  const tuner::Evaluate evaluate = [&](const plan::Plan& plan) {
    return sim::predict(simulator, profile, plan);
  };
  tuner::EvaluateAll evaluate_all = tuner::one_by_one(evaluate);
  std::optional<tuner::Journal> journal;
  if (!options.journal.empty()) {
    journal.emplace(options.journal, search_document(profile, options));
    evaluate_all = journal->recording(evaluate_all);
  }
  const auto request = request_of(profile, options);
  const auto space = tuner::make_space(request);
  tuner::Bounds bounds(profile, space);
  Tuning tuning;
  tuning.options = options;
  tuning.found = tuner::search({profile, space, bounds, options.seed}, options.strategy, options.budget,
                               with_memory(profile, evaluate_all), progress);
  tuning.plans = space.size();
  tuning.bounds = bounds.count();
  tuning.resumed = journal ? journal->resumed() : 0;
  auto candidates = preset_candidates(request, evaluate);
  candidates.insert(candidates.end(), tuning.found.evaluated.begin(), tuning.found.evaluated.end());
  tuning.candidates = best_of_each_name(std::move(candidates));
  return tuning;
}

base::Json prediction_document(const sim::Prediction& prediction) {
  return {{"epoch_s", prediction.epoch_s},
          {"lower_bound_s", prediction.lower_bound_s},
          {"cpu_utilisation", prediction.cpu_utilisation},
          {"link_utilisation", prediction.link_utilisation},
          {"device_utilisation", prediction.device_utilisation},
          {"blocked_on_cpu_s", prediction.blocked_on_cpu_s},
          {"blocked_on_device_s", prediction.blocked_on_device_s},
          {"cpu_batches", prediction.cpu_batches},
          {"bound_by", prediction.bound_by}};
}

base::Json tuning_document(const Tuning& tuning) {
  base::Json candidates = base::Json::array();
  for (const auto& candidate : tuning.candidates) {
    candidates.push_back({{"plan", base::to_document(candidate.plan)},
                          {"prediction", prediction_document(candidate.prediction)}});
  }
  return {{"schema", "gnomon.tuning/1"},
          {"best", tuning.best().plan.name},
          {"strategy", std::string(base::name_of(tuning.options.strategy))},
          {"seed", tuning.options.seed},
          {"plans", tuning.plans},
          {"bounds", tuning.bounds},
          {"evaluations", tuning.found.evaluated.size()},
          {"stopped_by", tuning.found.stopped_by},
          {"candidates", candidates}};
}

std::string over_bound(const sim::Prediction& prediction) {
  return prediction.lower_bound_s > 0 ? format_percent(prediction.epoch_s / prediction.lower_bound_s - 1)
                                      : "-";
}

std::string tuning_text(const Tuning& tuning) {
  Table table({"plan", "schedule", "workers", "threads", "buffers", "epoch", "bound", "over bound", "cpu",
               "link", "device", "bound by"});
  for (const auto& [plan, prediction] : tuning.candidates) {
    table.add_row({plan.name, std::string(base::name_of(plan.schedule)), count_or_dash(plan.workers),
                   count_or_dash(plan.device_threads), buffers_of(plan), format_seconds(prediction.epoch_s),
                   format_seconds(prediction.lower_bound_s), over_bound(prediction),
                   plan.workers == 0 ? "-" : format_percent(prediction.cpu_utilisation),
                   format_percent(prediction.link_utilisation), format_percent(prediction.device_utilisation),
                   prediction.bound_by});
  }
  const auto& best = tuning.best();
  std::string text = table.text();
  text += fmt::format("\nbest of {} plans: {}, {} an epoch, {} over the lower bound {}\n",
                      format_count(tuning.plans), best.plan.name, format_seconds(best.prediction.epoch_s),
                      over_bound(best.prediction), format_seconds(best.prediction.lower_bound_s));
  text += fmt::format("strategy {}: {} bounds, {} simulated epochs, stopped by {}\n",
                      base::name_of(tuning.options.strategy), format_count(tuning.bounds),
                      tuning.found.evaluated.size(), tuning.found.stopped_by);
  if (tuning.resumed > 0) {
    text += fmt::format("{} of them from {}\n", tuning.resumed, tuning.options.journal);
  }
  return text;
}

}  // namespace gnomon::apps
