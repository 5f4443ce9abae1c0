#include "tuner/explore/extrapolation.h"

#include <algorithm>
#include <cstdio>

#include "profiles/scaling.h"

namespace gnomon::tuner {
namespace {

using profiles::ScalingPoint;

/// The maximum number of threads with which a stage was measured; without points (a paper's numbers), the
/// machine's number of cores.
int measured_threads(const std::vector<ScalingPoint>& points, const plan::Cores& measured) {
  int most = points.empty() ? measured.count : 1;
  for (const auto& point : points) {
    most = std::max(most, point.threads);
  }
  return most;
}

std::string more_than(const char* what, int measured) {
  return "more " + std::string(what) + " than measured (" + std::to_string(measured) + "): ";
}

/// Whether more than one thread was measured, so that a scaling law is fitted.
bool has_law(const std::vector<ScalingPoint>& points) { return !points.empty() && points.back().threads > 1; }

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

/// How the speed per worker was extrapolated.
std::string workers_law(const std::vector<ScalingPoint>& points, int measured) {
  if (!has_law(points)) {
    return "each is assumed to be as fast as one of " + std::to_string(measured);
  }
  return "each other worker is assumed to cost one " + percent(profiles::contention_share(points)) +
         " of its time alone, as those measured do";
}

/// How the speed-up of a stage was extrapolated.
std::string threads_law(const std::vector<ScalingPoint>& points, int measured) {
  if (!has_law(points)) {
    return "they are assumed to be as fast as " + std::to_string(measured);
  }
  return "Amdahl's law with the measured serial share of " + percent(profiles::serial_share(points));
}

}  // namespace

std::vector<std::string> extrapolations(const profiles::Profile& profile, const plan::Cores& measured,
                                        const plan::Plan& plan) {
  const auto& workload = profile.workload;
  const auto cores = profiles::cores_of(profile);
  std::vector<std::string> texts;
  if (cores.device != measured.device) {
    texts.emplace_back(
        "another kind of device than measured: preparing and training on the device are scaled by memory "
        "bandwidths, at least the time to launch their kernels, and copies by the link's");
  }
  const int workers = measured_threads(workload.worker_efficiency, measured);
  if (plan.uses_workers() && plan.workers * plan.worker_threads > workers) {
    texts.push_back(more_than("workers", workers) + workers_law(workload.worker_efficiency, workers));
  }
  const int sharing = measured_threads(workload.cpu_batch_speedup, measured);
  if (plan.uses_workers() && plan.worker_threads > sharing) {
    texts.push_back(more_than("threads of a worker", sharing) +
                    threads_law(workload.cpu_batch_speedup, sharing));
  }
  if (plan::runs_on_cores(cores.device)) {
    const int training = measured_threads(workload.train_speedup, measured);
    if (plan.device_threads > training) {
      texts.push_back(more_than("threads that train", training) +
                      threads_law(workload.train_speedup, training));
    }
    const int preparing = measured_threads(workload.device_batch_speedup, measured);
    if (plan.uses_device_route() && plan.device_threads > preparing) {
      texts.push_back(more_than("threads that prepare on the device", preparing) +
                      threads_law(workload.device_batch_speedup, preparing));
    }
  }
  if (plan.devices > measured.devices) {
    texts.push_back(more_than("devices", measured.devices) +
                    "each is assumed to be as fast as one, and gradients are averaged over the known links");
  }
  return texts;
}

}  // namespace gnomon::tuner
