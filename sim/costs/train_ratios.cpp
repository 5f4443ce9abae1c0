#include "sim/costs/train_ratios.h"

#include <algorithm>

#include "profiles/catalog.h"

namespace gnomon::sim {
namespace {

using plan::Plan;
using profiles::WorkloadProfile;

/// Precondition: launches take a known time, and training takes any.
double estimated_graphs_ratio(const profiles::Profile& profile) {
  const auto& device = profile.machine.device;
  const WorkloadProfile& workload = profile.workload;
  const double train_s = workload.train.mean_s;
  const int layers = std::max(2, workload.job.layers());
  const auto launches = static_cast<double>(profiles::launches_of_batch(workload.job.model, layers).training);
  const auto left = static_cast<double>(profiles::launches_of_graph_step);
  const double activations_s =
      device.memory_bandwidth_bytes_per_s
          ? 2 * workload.parts.activation_bytes.value_or(0) / *device.memory_bandwidth_bytes_per_s
          : 0;
  const double computing_s = std::max(train_s - (launches - left) * *device.launch_s, activations_s);
  const double largest = workload.parts.max_batch_bytes.value_or(workload.batch_bytes);
  const double padding = workload.batch_bytes > 0 ? std::max(1.0, largest / workload.batch_bytes) : 1;
  return std::max(computing_s * padding, left * *device.launch_s) / train_s;
}

}  // namespace

double fused_ratio(const WorkloadProfile& workload, const Plan& plan, double gather_s) {
  if (!plan.fused) {
    return 1;
  }
  const auto& parts = workload.parts;
  const bool from_macro_batch = plan.schedule == plan::Schedule::macro_batch && parts.macro_train_ratio;
  if (const auto measured = from_macro_batch ? parts.macro_train_ratio : parts.fused_train_ratio) {
    return *measured;
  }
  return workload.train.mean_s > 0 ? 1 + gather_s / workload.train.mean_s : 1;
}

double waiting_ratio(const WorkloadProfile& workload, const Plan& plan, double link_s) {
  const auto measured = workload.parts.resident_train_ratio;
  if (!measured || plan.route != plan::Route::device || workload.device_batch_link_s <= 0) {
    return 1;
  }
  const double reads = std::min(1.0, link_s / workload.device_batch_link_s);
  return *measured + (1 - *measured) * reads;
}

double graphs_ratio(const profiles::Profile& profile, const Plan& plan) {
  const auto& device = profile.machine.device;
  if (!plan.graphs || profile.workload.train.mean_s <= 0) {
    return 1;
  }
  if (const auto measured = profile.workload.parts.graphs_train_ratio) {
    return *measured;
  }
  return !device.launch_s || plan::runs_on_cores(device.kind) ? 1 : estimated_graphs_ratio(profile);
}

}  // namespace gnomon::sim
