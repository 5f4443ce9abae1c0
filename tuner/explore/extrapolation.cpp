#include "tuner/explore/extrapolation.h"

#include <algorithm>

namespace gnomon::tuner {
namespace {

using profiles::Extended;
using profiles::RestsOn;
using profiles::Scaled;

std::string more_than(const char* what, int measured) {
  return "more " + std::string(what) + " than measured (" + std::to_string(measured) + "): ";
}

/// The stages of a mini-batch on the plan's routes.
bool uses_stage(const std::string& stage, const plan::Plan& plan) {
  if (stage == "cpu_batch") {
    return plan.uses_workers();
  }
  if (stage == "device_batch") {
    return plan.uses_device_route();
  }
  return stage == "train" || plan.uses_cpu_route();
}

double time_of(const std::string& stage, const profiles::WorkloadProfile& workload) {
  return stage == "cpu_batch"      ? workload.cpu_batch.mean_s
         : stage == "device_batch" ? workload.device_batch.mean_s
         : stage == "train"        ? workload.train.mean_s
                                   : workload.transfer.mean_s;
}

/// What a scaling is based on: a time that was kept for want of numbers is assumed.
RestsOn basis_of(const profiles::StageScaling& scaling) {
  if (scaling.factor && scaling.interval) {
    return *scaling.interval > 0 ? RestsOn::speeds : RestsOn::measured;
  }
  return scaling.factor || scaling.is_new ? RestsOn::data_sheet : RestsOn::assumed;
}

}  // namespace

std::vector<Reliance> extrapolations(const Extended& profile, const plan::Cores& measured,
                                     const plan::Plan& plan) {
  const auto cores = profiles::cores_of(profile.profile);
  std::vector<Reliance> found;
  if (cores.device != measured.device) {
    found.push_back(
        {RestsOn::data_sheet,
         "another kind of device than measured: preparing and training on the device are scaled by memory "
         "bandwidths, at least the time to launch their kernels, and copies by the link's"});
  }
  const auto add = [&](Scaled list, const char* what, int threads) {
    const auto& extension = profile.of(list);
    if (threads > extension.measured && !extension.law.empty()) {
      found.push_back({extension.rests_on, more_than(what, extension.measured) + extension.law});
    }
  };
  if (plan.uses_workers()) {
    add(Scaled::workers, "workers", plan.workers * plan.worker_threads);
    add(Scaled::worker_threads, "threads of a worker", plan.worker_threads);
  }
  if (plan::runs_on_cores(cores.device)) {
    add(Scaled::training, "threads that train", plan.device_threads);
    if (plan.uses_device_route()) {
      add(Scaled::preparing, "threads that prepare on the device", plan.device_threads);
    }
  }
  if (plan.devices > measured.devices) {
    found.push_back(
        {RestsOn::assumed,
         more_than("devices", measured.devices) +
             "each is assumed to be as fast as one, and gradients are averaged over the known links"});
  }
  return found;
}

std::vector<Reliance> reliances_on(const std::vector<profiles::StageScaling>& scalings,
                                   const profiles::Profile& profile, const plan::Plan& plan) {
  std::vector<Reliance> found;
  for (const auto& scaling : scalings) {
    const auto on = basis_of(scaling);
    if (on != RestsOn::measured && uses_stage(scaling.stage, plan) &&
        time_of(scaling.stage, profile.workload) > 0) {
      found.push_back({on, profiles::text_of(scaling)});
    }
  }
  return found;
}

Reliance weakest(const std::vector<Reliance>& reliances) {
  Reliance all{RestsOn::measured, ""};
  for (const auto& each : reliances) {
    all.on = std::max(all.on, each.on);
  }
  for (const auto& each : reliances) {
    if (each.on == all.on) {
      all.why += (all.why.empty() ? "" : "; ") + each.why;
    }
  }
  if (all.why.empty()) {
    all.why = "all stages and speed-ups of this plan were measured";
  }
  return all;
}

}  // namespace gnomon::tuner
