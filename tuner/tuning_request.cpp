#include "tuner/tuning_request.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"
#include "sim/costs/model.h"
#include "sim/predict.h"
#include "tuner/surrogate/learned.h"

namespace gnomon::tuner {
namespace {

/// The limits that are set.
base::Json limits_document(const TuningOptions& options) {
  base::Json json = base::Json::object();
  const auto add = [&json](const char* name, double limit) {
    if (std::isfinite(limit)) {
      json[name] = limit;
    }
  };
  add("host_memory_bytes", options.limits.host_bytes);
  add("device_memory_bytes", options.limits.device_bytes);
  add("energy_j", options.consumption.energy_j);
  add("price", options.consumption.price);
  return json;
}

}  // namespace

plan::Exactness required_exactness(const TuningOptions& options) {
  return options.approximate ? plan::Exactness::approximate : options.exactness;
}

TuningOptions with_less_exact(TuningOptions options) {
  options.exactness = plan::Exactness::batches;
  return options;
}

Budget budget_of(const TuningOptions& options) {
  if (options.budget) {
    return *options.budget;
  }
  Budget budget;
  if (options.strategy == StrategyKind::exhaustive) {
    budget.evaluations = std::numeric_limits<int>::max();
  }
  return budget;
}

SpaceRequest request_of(const profiles::Profile& profile, const TuningOptions& options,
                        const Accuracy& accuracy) {
  SpaceRequest request;
  request.cores = profiles::cores_of(profile);
  request.batches = profile.workload.batches;
  for (const auto& point : profile.workload.cpu_batch_speedup) {
    if (point.threads == 1 || point.value > 1) {
      request.values["worker_threads"].push_back(std::to_string(point.threads));
    }
  }
  request.constraints.clear();
  if (!options.approximate) {
    request.constraints.push_back(exact_only());
    if (options.exactness > plan::Exactness::batches) {
      request.constraints.push_back(at_least(options.exactness));
    }
  }
  if (!options.simulated) {
    request.constraints.push_back(runnable_only(profile));
  }
  request.constraints.push_back(fits_memory(profile, options.limits));
  if (accuracy) {
    request.constraints.push_back(accuracy_known(*accuracy));
    request.constraints.push_back(accurate(*accuracy, options.accuracy_floor));
  }
  return request;
}

Accuracy accuracy_of(const profiles::Profile& profile, const TuningOptions& options) {
  if (options.surrogate.empty()) {
    if (options.accuracy_floor > 0) {
      throw base::InputError("accuracy floor", "needs a surrogate, the file that predicts accuracy");
    }
    return std::nullopt;
  }
  if (!options.approximate) {
    throw base::InputError("surrogate", "predicts approximate plans; allow them");
  }
  const auto learned = read_learned(options.surrogate);
  if (!learned.accuracy) {
    throw base::InputError(options.surrogate, "holds no model of accuracy; learn one from training runs");
  }
  return AccuracyPredictor(*learned.accuracy, sizes_of(profile.workload), profile.workload.job);
}

base::Json search_document(const profiles::Profile& profile, const TuningOptions& options) {
  base::Json document = {{"strategy", std::string(base::name_of(options.strategy))},
                         {"seed", options.seed},
                         {"approximate", options.approximate},
                         {"exactness", std::string(base::name_of(options.exactness))},
                         {"simulated", options.simulated},
                         {"limits", limits_document(options)},
                         {"profile", base::write_value(profile)}};
  if (!options.surrogate.empty()) {
    document["surrogate"] = base::parse_json(base::read_file(options.surrogate), options.surrogate);
    document["accuracy_floor"] = options.accuracy_floor;
  }
  return document;
}

bool is_allowed(const SpaceRequest& request, const plan::Plan& plan) {
  return std::all_of(request.constraints.begin(), request.constraints.end(),
                     [&](const Constraint& constraint) { return constraint.why_not(plan).empty(); });
}

std::vector<plan::Plan> preset_plans(const profiles::Profile& profile, const SpaceRequest& request) {
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
      // The machine lacks a resource, or the profile a number, that the plan requires.
    }
  }
  return plans;
}

}  // namespace gnomon::tuner
