#include "tuner/explore/extrapolation.h"

#include <algorithm>

namespace gnomon::tuner {
namespace {

using profiles::ScalingPoint;

/// The most threads with which a stage was measured: without points, with as many as the machine had cores
/// (a paper's numbers).
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

}  // namespace

std::vector<std::string> extrapolations(const profiles::Profile& profile, const plan::Cores& measured,
                                        const plan::Plan& plan) {
  const auto& workload = profile.workload;
  const auto cores = profiles::cores_of(profile);
  std::vector<std::string> texts;
  if (cores.device != measured.device) {
    texts.emplace_back(
        "another kind of device than measured: preparing and training on the device are scaled by memory "
        "bandwidths, copies by the link's, and what it costs to launch kernels is left out");
  }
  const int workers = measured_threads(workload.worker_efficiency, measured);
  if (plan.uses_workers() && plan.workers * plan.worker_threads > workers) {
    texts.push_back(more_than("workers", workers) + "each is taken to be as fast as one of " +
                    std::to_string(workers));
  }
  const int sharing = measured_threads(workload.cpu_batch_speedup, measured);
  if (plan.uses_workers() && plan.worker_threads > sharing) {
    texts.push_back(more_than("threads of a worker", sharing) + "they are taken to be as fast as " +
                    std::to_string(sharing));
  }
  const int device = std::min(measured_threads(workload.train_speedup, measured),
                              measured_threads(workload.device_batch_speedup, measured));
  if (plan::runs_on_cores(cores.device) && plan.device_threads > device) {
    texts.push_back(more_than("device threads", device) + "they are taken to be as fast as " +
                    std::to_string(device));
  }
  if (plan.devices > measured.devices) {
    texts.push_back(more_than("devices", measured.devices) +
                    "each is taken to be as fast as one, and gradients are averaged over the known links");
  }
  return texts;
}

}  // namespace gnomon::tuner
