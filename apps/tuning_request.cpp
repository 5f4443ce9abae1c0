#include "apps/tuning_request.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "sim/prediction.h"
#include "tuner/surrogate/learned.h"

namespace gnomon::apps {
namespace {

/// Limits that there are.
base::Json limits_document(const TuningOptions& options) {
  base::Json json = base::Json::object();
  const auto add = [&json](const char* name, double limit) {
    if (std::isfinite(limit)) {
      json[name] = limit;
    }
  };
  add("host_memory_bytes", options.limits.host_bytes);
  add("device_memory_bytes", options.limits.device_bytes);
  add("energy_j", options.running.energy_j);
  add("price", options.running.price);
  return json;
}

}  // namespace

tuner::SpaceRequest request_of(const profiles::Profile& profile, const TuningOptions& options,
                               const Accuracy& accuracy) {
  tuner::SpaceRequest request;
  request.cores = profiles::cores_of(profile);
  request.batches = profile.workload.batches;
  for (const auto& point : profile.workload.cpu_batch_speedup) {
    if (point.threads == 1 || point.value > 1) {
      request.values["worker_threads"].push_back(std::to_string(point.threads));
    }
  }
  request.constraints.clear();
  if (!options.approximate) {
    request.constraints.push_back(tuner::exact_only());
  }
  if (!options.simulated) {
    request.constraints.push_back(tuner::runnable_only(plan::abilities_of(profile.machine.device.kind)));
  }
  request.constraints.push_back(tuner::fits_memory(profile, options.limits));
  if (accuracy) {
    request.constraints.push_back(tuner::accuracy_known(*accuracy));
    request.constraints.push_back(tuner::accurate(*accuracy, options.accuracy_floor));
  }
  return request;
}

Accuracy accuracy_of(const profiles::Profile& profile, const TuningOptions& options) {
  if (options.surrogate.empty()) {
    if (options.accuracy_floor > 0) {
      throw base::InputError("--accuracy-floor", "needs --surrogate, a file that predicts accuracy");
    }
    return std::nullopt;
  }
  if (!options.approximate) {
    throw base::InputError("--surrogate", "predicts approximate plans; use it with --allow-approximate");
  }
  const auto learned = tuner::read_learned(options.surrogate);
  if (!learned.accuracy) {
    throw base::InputError(options.surrogate, "holds no model of accuracy; learn it with --runs");
  }
  return tuner::AccuracyPredictor(*learned.accuracy, tuner::sizes_of(profile.workload), profile.workload.job);
}

base::Json search_document(const profiles::Profile& profile, const TuningOptions& options) {
  base::Json document = {{"strategy", std::string(base::name_of(options.strategy))},
                         {"seed", options.seed},
                         {"approximate", options.approximate},
                         {"simulated", options.simulated},
                         {"limits", limits_document(options)},
                         {"profile", base::write_value(profile)}};
  if (!options.surrogate.empty()) {
    document["surrogate"] = base::parse_json(base::read_file(options.surrogate), options.surrogate);
    document["accuracy_floor"] = options.accuracy_floor;
  }
  return document;
}

bool is_allowed(const tuner::SpaceRequest& request, const plan::Plan& plan) {
  return std::all_of(request.constraints.begin(), request.constraints.end(),
                     [&](const tuner::Constraint& constraint) { return constraint.why_not(plan).empty(); });
}

std::vector<plan::Plan> preset_plans(const profiles::Profile& profile, const tuner::SpaceRequest& request) {
  std::vector<plan::Plan> plans;
  for (const auto& preset : plan::presets()) {
    if (!is_allowed(request, preset)) {
      continue;
    }
    try {
      auto plan = plan::resolve(preset, request.cores, preset.name);
      sim::machine_model(profile, sim::resolve_on(profile, plan), false, 0);
      plans.push_back(std::move(plan));
    } catch (const base::InputError&) {
      // This machine has not what the plan asks for, or the profile does not tell it.
    }
  }
  return plans;
}

}  // namespace gnomon::apps
