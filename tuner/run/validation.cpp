#include "tuner/run/validation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/median.h"
#include "base/stop.h"
#include "plan/disk_plans.h"
#include "profiles/measure/epoch.h"
#include "sim/predict.h"
#include "sim/uncertainty.h"
#include "tuner/run/learned_profile.h"
#include "tuner/verify/correction.h"

namespace gnomon::tuner {
namespace {

using plan::Plan;

Plan preset(const std::string& name, const std::string& variant) {
  auto plan = plan::find_plan(name);
  plan.name += variant;
  return plan;
}

/// Rounds whose timelines are kept for corrections.
constexpr std::size_t max_timelines = 8;

/// Minimum time for which short epochs are repeated with the same threads and slots, as in a training.
constexpr double min_s = 0.05;

/// Plans that are not presets: simpler ones, and ones further from the defaults.
std::vector<Plan> variants(const plan::Cores& cores) {
  Plan sequential;
  sequential.name = "sequential";
  auto one_thread = preset("device", ", 1 thread");
  one_thread.device_threads = 1;
  Plan all_workers;
  all_workers.name = "pipelined, " + std::to_string(cores.count) + " workers";
  all_workers.schedule = plan::Schedule::pipelined;
  all_workers.order = plan::Order::as_ready;
  all_workers.cpu_buffer = 4;
  all_workers.workers = cores.count;
  auto far_ahead = preset("gnomon", ", 16 ahead");
  far_ahead.look_ahead = 16;
  Plan small_buffers;
  small_buffers.name = "dual buffer, 3:2";
  small_buffers.schedule = plan::Schedule::dual_buffer;
  small_buffers.route = plan::Route::both;
  small_buffers.order = plan::Order::as_ready;
  small_buffers.cpu_buffer = 3;
  return {sequential, one_thread, all_workers, far_ahead, small_buffers};
}

bool does_the_same(Plan a, const Plan& b) {
  a.name = b.name;
  a.source = b.source;
  return a == b;
}

}  // namespace

std::vector<Plan> plans_to_validate(const plan::Cores& cores) {
  const auto abilities = plan::abilities_of(cores.device);
  auto wanted = plan::runnable_presets_in_memory(abilities);
  for (auto& variant : variants(cores)) {
    wanted.push_back(std::move(variant));
  }
  std::vector<Plan> plans;
  for (const auto& plan : wanted) {
    const auto resolved = plan::resolve(plan, cores, plan.name);
    const bool is_executed = plan::why_not_executed(resolved, abilities).empty();
    if (is_executed && std::none_of(plans.begin(), plans.end(),
                                    [&](const Plan& known) { return does_the_same(known, resolved); })) {
      plans.push_back(resolved);
    }
  }
  return plans;
}

namespace {

Validated predicted(sim::Simulator& simulator, const profiles::Profile& profile, const Plan& plan) {
  const auto prediction = sim::predict(simulator, profile, plan, true);
  return {
      .plan = plan,
      .predicted_s = prediction.epoch_s,
      .predicted_interval_s = sim::epoch_interval_s(profile, plan),
      // An emulated device's memory is host memory.
      .predicted_bytes =
          prediction.memory.host.total() +
          (profile.machine.device.kind == plan::DeviceKind::emulated ? prediction.memory.device.total() : 0),
      .predicted_device_bytes = plan::has_link(profile.machine.device.kind)
                                    ? std::optional(prediction.memory.device.total())
                                    : std::nullopt,
      .predicted_stages_s = schedule::mean_times(prediction.timeline)};
}

void run_epoch(const graph::Graph& graph, const plan::Job& job, const profiles::EpochOptions& options,
               Validated& result) {
  auto epoch = profiles::measure_epoch(graph, job, result.plan, options);
  result.measured_s.push_back(epoch.seconds);
  if (epoch.device_bytes > 0) {
    result.measured_device_bytes =
        std::max(result.measured_device_bytes.value_or(0), static_cast<double>(epoch.device_bytes));
  }
  const auto stages_s = schedule::mean_times(epoch.timeline);
  for (std::size_t stage = 0; stage < stages_s.size(); ++stage) {
    result.measured_stages_s[stage] += stages_s[stage];
  }
  if (result.timelines.size() < max_timelines) {
    result.timelines.push_back(std::move(epoch.timeline));
  }
}

std::string where_of(int round, const Rounds& rounds, std::size_t plan, std::size_t plans) {
  const std::string of = rounds.min == rounds.max ? " of " + std::to_string(rounds.max) : "";
  return "round " + std::to_string(round + 1) + of + ", plan " + std::to_string(plan + 1) + " of " +
         std::to_string(plans);
}

bool enough(const Rounds& rounds, const std::vector<Validated>& results) {
  const auto has_enough = [&](const Validated& result) {
    const auto& measured_s = result.measured_s;
    return std::ssize(measured_s) >= rounds.max ||
           (std::ssize(measured_s) >= rounds.min &&
            std::accumulate(measured_s.begin(), measured_s.end(), 0.0) >= rounds.seconds);
  };
  return std::all_of(results.begin(), results.end(), has_enough);
}

/// Computes the medians of the epochs and the means of the summed stage times.
void summarise(Validated& result) {
  result.median_s = base::median(result.measured_s);
  for (double& stage_s : result.measured_stages_s) {
    stage_s /= static_cast<double>(result.measured_s.size());
  }
}

void measure_memory(const ValidationOptions& options, std::vector<Validated>& results) {
  if (!options.peak_memory) {
    return;
  }
  for (std::size_t number = 0; number < results.size(); ++number) {
    base::check_stop(options.stop);
    base::report(options.progress, "measuring memory", static_cast<std::int64_t>(number),
                 std::ssize(results));
    results[number].measured_bytes = options.peak_memory(results[number].plan);
  }
}

}  // namespace

std::vector<Validated> validate(const graph::Graph& graph, const profiles::Profile& profile,
                                const std::vector<Plan>& plans, const ValidationOptions& options) {
  sim::Simulator simulator;
  std::vector<Validated> results;
  for (const auto& plan : plans) {
    base::check_stop(options.stop);
    results.push_back(predicted(simulator, profile, sim::resolve_on(profile, plan)));
  }
  measure_memory(options, results);
  for (int round = 0; !enough(options.rounds, results); ++round) {
    for (std::size_t number = 0; number < results.size(); ++number) {
      profiles::EpochOptions epoch;
      epoch.epoch = round;
      epoch.min_s = min_s;
      epoch.stop = options.stop;
      epoch.device = options.device;
      epoch.progress = [&, where = where_of(round, options.rounds, number, results.size())](
                           std::string_view, std::int64_t done, std::int64_t total) {
        base::report(options.progress, where, done, total);
      };
      run_epoch(graph, profile.workload.job, epoch, results[number]);
    }
  }
  std::for_each(results.begin(), results.end(), summarise);
  return results;
}

namespace {

std::vector<RealRun> runs_of(const std::vector<Validated>& results, const profiles::Profile& profile) {
  std::vector<RealRun> runs;
  for (const auto& result : results) {
    for (const auto& timeline : result.timelines) {
      runs.push_back({result.plan, profile.workload.batches, timeline});
    }
  }
  return runs;
}

}  // namespace

profiles::Corrections corrections_by(const std::vector<Validated>& results,
                                     const profiles::Profile& profile) {
  sim::Simulator simulator;
  return corrections_by(runs_of(results, profile), profile, simulator);
}

void add_to_history(const std::vector<Validated>& results, const profiles::Profile& profile) {
  sim::Simulator simulator;
  add_to_history(runs_of(results, profile), profile, simulator);
}

double prediction_error_by(const std::vector<Validated>& results, const profiles::Profile& corrected) {
  sim::Simulator simulator;
  double squares = 0;
  for (const auto& result : results) {
    const double error = sim::predict(simulator, corrected, result.plan).epoch_s / result.median_s - 1;
    squares += error * error;
  }
  constexpr double min_error = 0.01;  // a few plans may agree by chance
  const double error = results.empty() ? 0 : std::sqrt(squares / static_cast<double>(results.size()));
  return std::max(min_error, error);
}

double mean_absolute_error(const std::vector<Validated>& results) {
  double sum = 0;
  for (const auto& result : results) {
    sum += std::abs(result.error());
  }
  return results.empty() ? 0 : sum / static_cast<double>(results.size());
}

namespace {

/// The mean time of each stage, over the plans that have it.
base::Json stages_of(const Validated& result) {
  base::Json stages = base::Json::object();
  for (int stage = 0; stage < schedule::num_stages; ++stage) {
    const auto place = static_cast<std::size_t>(stage);
    if (result.measured_stages_s[place] > 0) {
      const std::string name(schedule::name_of(static_cast<schedule::Stage>(stage)));
      stages[name] = {{"predicted_s", result.predicted_stages_s[place]},
                      {"measured_s", result.measured_stages_s[place]}};
    }
  }
  return stages;
}

}  // namespace

base::Json to_document(const std::vector<Validated>& results, const std::string& data,
                       const std::string& profile) {
  base::Json plans = base::Json::array();
  for (const auto& result : results) {
    plans.push_back({{"plan", base::write_value(result.plan)},
                     {"predicted_s", result.predicted_s},
                     {"measured_s", result.median_s},
                     {"epochs_s", result.measured_s},
                     {"predicted_bytes", result.predicted_bytes},
                     {"stages", stages_of(result)},
                     {"error", result.error()}});
    if (result.predicted_interval_s) {
      plans.back()["predicted_interval_s"] = *result.predicted_interval_s;
    }
    const auto add = [&](const char* name, const std::optional<double>& value) {
      if (value) {
        plans.back()[name] = *value;
      }
    };
    add("measured_bytes", result.measured_bytes);
    add("predicted_device_bytes", result.predicted_device_bytes);
    add("measured_device_bytes", result.measured_device_bytes);
  }
  return {{"schema", "gnomon.validation/1"},
          {"data", data},
          {"profile", profile},
          {"plans", plans},
          {"mean_absolute_error", mean_absolute_error(results)}};
}

}  // namespace gnomon::tuner
