#include "apps/text/profile_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/text/format.h"
#include "apps/text/table.h"
#include "sim/costs/memory.h"

namespace gnomon::apps {
namespace {

using profiles::Profile;

std::string machine_text(const profiles::MachineProfile& machine) {
  const auto& cpu = machine.cpu;
  return fmt::format(
      "machine  {}, {} cores ({} physical, {} nodes of memory), {}; memory reads {}/s, one core copies "
      "{}/s\n",
      cpu.name, cpu.cores, cpu.physical_cores, cpu.node_cores.size(), format_bytes(cpu.memory_bytes),
      format_bytes(cpu.memory_bandwidth_bytes_per_s), format_bytes(cpu.copy_bandwidth_bytes_per_s));
}

std::string gpu_text(const profiles::MachineProfile& machine) {
  const auto& gpu = machine.device;
  if (gpu.kind != profiles::DeviceKind::cuda) {
    return "";
  }
  std::string text = fmt::format("GPU      {}, {} multiprocessors, {}, which it copies at {}/s\n", gpu.name,
                                 gpu.multiprocessors, format_bytes(gpu.memory_bytes),
                                 format_bytes(gpu.memory_bandwidth_bytes_per_s / 2));
  const auto& link = machine.link;
  text += fmt::format("link     copies {}/s", format_bytes(link.bandwidth_bytes_per_s));
  if (link.transfers_per_s > 0) {
    text += fmt::format(", {} lanes of {:.3g} GT/s", link.lanes, link.transfers_per_s / 1e9);
  }
  return text + fmt::format("; reads at full speed on {} of the multiprocessors\n",
                            format_percent(gpu.link_saturation_share));
}

std::string running_text(const profiles::Running& running) {
  std::string text;
  if (running.core_w > 0) {
    text +=
        fmt::format("power    {:.4g} W idle, {:.4g} W more for a busy core", running.idle_w, running.core_w);
    text += running.device_w > 0 ? fmt::format(", {:.4g} W for a busy GPU\n", running.device_w) : "\n";
  }
  if (running.price_per_hour > 0) {
    text += fmt::format("price    {:.4g} an hour\n", running.price_per_hour);
  }
  return text;
}

std::string disk_text(const profiles::Disk& disk) {
  if (disk.random_reads_per_s <= 0) {
    return "";
  }
  return fmt::format("disk     reads {}/s in order; {} random blocks of {} a second, {} at a time\n",
                     format_bytes(disk.bandwidth_bytes_per_s),
                     format_count(static_cast<std::int64_t>(disk.random_reads_per_s)),
                     format_bytes(disk.block_bytes), disk.queue_depth);
}

std::string workload_text(const profiles::WorkloadProfile& workload) {
  std::string fanouts;
  for (const int fanout : workload.job.fanouts) {
    fanouts += (fanouts.empty() ? "" : ",") + std::to_string(fanout);
  }
  return fmt::format("graph    {}: {} vertices, {} edges, {} features\n", workload.graph,
                     format_count(workload.vertices), format_count(workload.edges),
                     workload.feature_columns) +
         fmt::format("job      {}, fanouts {}, hidden {}; {} mini-batches of {} an epoch\n",
                     base::name_of(workload.job.model), fanouts, workload.job.hidden,
                     format_count(workload.batches), format_count(workload.job.batch_size)) +
         fmt::format("batch    {} vertices, {} edges, {} (means)\n",
                     format_count(static_cast<std::int64_t>(workload.batch_vertices)),
                     format_count(static_cast<std::int64_t>(workload.batch_edges)),
                     format_bytes(workload.batch_bytes)) +
         fmt::format("worker   keeps {} at most to sample, whichever the batch\n",
                     format_bytes(sim::sampler_bytes(workload)));
}

void add_stage(Table& table, const char* name, const profiles::StageTime& time) {
  table.add_row({name, format_seconds(time.mean_s),
                 format_percent(time.mean_s > 0 ? time.interval_s / time.mean_s : 0),
                 format_seconds(time.p5_s), format_seconds(time.p50_s), format_seconds(time.p95_s),
                 format_count(time.samples), time.converged ? "interval" : "time limit"});
}

std::string scaling_text(const char* name, const std::vector<profiles::ScalingPoint>& points) {
  std::string text;
  for (const auto& point : points) {
    if (point.threads > 1) {
      text += fmt::format(", {} threads {:.2f}x", point.threads, point.value);
    }
  }
  return text.empty() ? "" : fmt::format("{}{}\n", name, text.substr(1));
}

std::string scaling_text(const profiles::WorkloadProfile& workload) {
  auto together = workload.worker_efficiency;
  for (auto& point : together) {
    point.value *= point.threads;
  }
  return scaling_text("CPU batching with", together) +
         scaling_text("a mini-batch shared by", workload.cpu_batch_speedup) +
         scaling_text("device batching with", workload.device_batch_speedup) +
         scaling_text("training with", workload.train_speedup);
}

std::string fused_text(const profiles::WorkloadProfile& workload) {
  const double ratio = workload.parts.fused_train_ratio;
  return ratio > 0 ? fmt::format("training that reads features where they are stored takes {:.2f}x\n", ratio)
                   : "";
}

/// Only what slows down by a percent or more.
std::string contention_text(const profiles::Contention& contention) {
  std::string text;
  const auto fields = base::write_value(contention);
  for (const auto& [name, value] : fields.items()) {
    const double slowdown = value.get<double>();
    if (slowdown >= 1.01) {
      auto words = name;
      std::replace(words.begin(), words.end(), '_', ' ');
      text +=
          fmt::format("{}{} takes {} more", text.empty() ? "" : ", ", words, format_percent(slowdown - 1));
    }
  }
  return text.empty() ? "" : "side by side: " + text + "\n";
}

}  // namespace

std::string text_of(const Profile& profile) {
  Table table({"stage", "mean", "+-", "5 %", "50 %", "95 %", "samples", "stopped by"});
  const auto& workload = profile.workload;
  add_stage(table, "CPU batching, one worker", workload.cpu_batch);
  if (workload.transfer.samples > 0) {
    add_stage(table, "transfer", workload.transfer);
  }
  add_stage(table, "device batching, one thread", workload.device_batch);
  add_stage(table, "training, one thread", workload.train);
  return machine_text(profile.machine) + gpu_text(profile.machine) + running_text(profile.machine.running) +
         disk_text(profile.machine.disk) + workload_text(workload) + table.text() + scaling_text(workload) +
         fused_text(workload) + contention_text(profile.machine.contention);
}

}  // namespace gnomon::apps
