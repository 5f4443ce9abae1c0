#include "profiles/data_sheet.h"

#include <algorithm>

#include "profiles/stage_work.h"

namespace gnomon::profiles {
namespace {

/// 0 if the rate is unknown.
double seconds(double amount, const std::optional<double>& per_s) { return per_s ? amount / *per_s : 0; }

/// The peak of products as the job allows them to round; none if it is unknown.
std::optional<double> peak_of(const Device& device, const plan::Job& job) {
  const auto& fp32 = device.peak_fp32_flops_per_s;
  const auto& tf32 = device.peak_tf32_flops_per_s;
  if (job.matmul_precision == plan::MatmulPrecision::highest || !fp32 || !tf32) {
    return fp32;
  }
  return std::max(*fp32, *tf32);
}

/// Profiles need times above 0.
constexpr double almost_no_time_s = 1e-12;

}  // namespace

std::optional<StageBounds> data_sheet_bounds(const Profile& profile) {
  const MachineProfile& machine = profile.machine;
  const WorkloadProfile& workload = profile.workload;
  const Device& device = machine.device;
  const auto peak = peak_of(device, workload.job);
  const auto& link = machine.link.bandwidth_bytes_per_s;
  const auto& memory = device.memory_bandwidth_bytes_per_s;
  if (device.kind != DeviceKind::cuda || !(peak || link || memory)) {
    return std::nullopt;
  }
  const double row_bytes = std::min(
      workload.batch_bytes, workload.batch_vertices * static_cast<double>(workload.feature_row_bytes));
  StageBounds bounds;
  bounds.transfer_s = seconds(workload.batch_bytes, link);
  bounds.device_batch_link_s = seconds(row_bytes, link);
  bounds.device_batch_s = std::max(bounds.device_batch_link_s, seconds(row_bytes, memory));
  bounds.train_s = std::max(seconds(product_flops(workload), peak), seconds(row_bytes, memory));
  const bool is_known = bounds.transfer_s > 0 || bounds.device_batch_s > 0 || bounds.train_s > 0;
  return is_known ? std::optional(bounds) : std::nullopt;
}

Profile at_data_sheet_bounds(Profile profile, const StageBounds& bounds) {
  WorkloadProfile& workload = profile.workload;
  workload.cpu_batch = {.mean_s = almost_no_time_s};
  workload.transfer = {.mean_s = std::max(almost_no_time_s, bounds.transfer_s)};
  workload.device_batch = {.mean_s = std::max(almost_no_time_s, bounds.device_batch_s)};
  workload.device_batch_link_s = bounds.device_batch_link_s;
  workload.train = {.mean_s = std::max(almost_no_time_s, bounds.train_s)};
  StageParts& parts = workload.parts;
  for (std::optional<double> StageParts::*part :
       {&StageParts::cpu_sample_s, &StageParts::device_sample_s, &StageParts::device_sample_link_s,
        &StageParts::find_hot_s, &StageParts::refresh_s, &StageParts::disk_rows_s, &StageParts::disk_lists_s,
        &StageParts::cache_choices_s, &StageParts::macro_edge_s, &StageParts::halo_entry_s,
        &StageParts::update_s, &StageParts::average_s, &StageParts::cpu_batch_memory_bytes,
        &StageParts::transfer_memory_bytes, &StageParts::device_batch_memory_bytes}) {
    (parts.*part).reset();
  }
  for (auto* ratio : {&parts.fused_train_ratio, &parts.macro_train_ratio, &parts.macro_sample_ratio,
                      &parts.graphs_train_ratio, &parts.one_hop_batch_ratio, &parts.one_hop_train_ratio}) {
    if (*ratio) {
      *ratio = std::min(1.0, **ratio);
    }
  }
  profile.machine.contention = {};
  profile.corrections.reset();
  profile.learned.reset();
  return profile;
}

}  // namespace gnomon::profiles
