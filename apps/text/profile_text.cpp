#include "apps/text/profile_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/text/format.h"
#include "apps/text/table.h"
#include "apps/text/tuning_text.h"
#include "profiles/beliefs.h"
#include "profiles/questionable.h"
#include "sim/costs/memory.h"

namespace gnomon::apps {
namespace {

using profiles::Profile;

/// The text of a quantity; "unknown" without one.
template <class T, class Text>
std::string or_unknown(const std::optional<T>& value, const Text& text) {
  return value ? std::string(text(*value)) : "unknown";
}

std::string rate_text(const std::optional<double>& bytes_per_s) {
  return or_unknown(bytes_per_s, [](double rate) { return format_bytes(rate) + "/s"; });
}

std::string machine_text(const profiles::MachineProfile& machine) {
  const auto& cpu = machine.cpu;
  return fmt::format(
      "machine  {}, {} ({} physical), {} of memory with {}\n"
      "         memory reads {}, one core copies {}\n",
      cpu.name, format_counted(cpu.cores, "core", "cores"),
      or_unknown(cpu.physical_cores, [](int cores) { return std::to_string(cores); }),
      format_counted(std::ssize(cpu.node_cores), "node", "nodes"), or_unknown(cpu.memory_bytes, format_bytes),
      rate_text(cpu.memory_bandwidth_bytes_per_s), rate_text(cpu.copy_bandwidth_bytes_per_s));
}

std::string emulated_text(const profiles::MachineProfile& machine) {
  const auto& device = machine.device;
  if (device.kind != profiles::DeviceKind::emulated) {
    return "";
  }
  const auto& link = machine.link;
  return fmt::format(
      "device   {} on the host's cores: runs at host speed; {} of memory\n"
      "link     emulated, copies {}; {:.0f} reads in flight, round trip {:.3g} us\n",
      device.name.empty() ? "emulated" : device.name, or_unknown(device.memory_bytes, format_bytes),
      rate_text(link.bandwidth_bytes_per_s), link.outstanding_reads, 1e6 * link.round_trip_s);
}

std::string gpu_text(const profiles::MachineProfile& machine) {
  const auto& gpu = machine.device;
  if (gpu.kind != profiles::DeviceKind::cuda) {
    return "";
  }
  const auto bandwidth = gpu.memory_bandwidth_bytes_per_s;
  std::string text = fmt::format(
      "GPU      {}, {}, {}, which it copies at {}\n", gpu.name,
      or_unknown(gpu.multiprocessors,
                 [](int count) { return format_counted(count, "multiprocessor", "multiprocessors"); }),
      or_unknown(gpu.memory_bytes, format_bytes),
      rate_text(bandwidth ? std::optional(*bandwidth / 2) : bandwidth));
  const auto& link = machine.link;
  text += "link     copies " + rate_text(link.bandwidth_bytes_per_s);
  if (link.transfers_per_s && link.lanes) {
    text += fmt::format(", {} of {} GT/s", format_counted(*link.lanes, "lane", "lanes"),
                        format_number(*link.transfers_per_s / 1e9));
  }
  return text + fmt::format("; reads at full speed on {} of the thread slots\n",
                            format_percent(gpu.link_saturation_share));
}

std::string running_text(const profiles::Running& running) {
  std::string text;
  if (running.core_w) {
    text += fmt::format("power    {} W idle, {} W more for a busy core",
                        or_unknown(running.idle_w, format_number), format_number(*running.core_w));
    text +=
        running.device_w ? fmt::format(", {} W for a busy GPU\n", format_number(*running.device_w)) : "\n";
  }
  if (running.price_per_hour) {
    text += fmt::format("price    {} an hour\n", format_number(*running.price_per_hour));
  }
  return text;
}

std::string disk_text(const profiles::Disk& disk) {
  if (!disk.random_reads_per_s || !disk.bandwidth_bytes_per_s) {
    return "";
  }
  return fmt::format("disk     reads {}/s in order; {} random blocks of {} a second, {} at a time\n",
                     format_bytes(*disk.bandwidth_bytes_per_s),
                     format_count(static_cast<std::int64_t>(*disk.random_reads_per_s)),
                     format_bytes(disk.block_bytes), disk.queue_depth);
}

std::string deviation_text(const profiles::WorkloadProfile& workload) {
  if (!workload.batch_deviations || workload.batch_bytes <= 0) {
    return "";
  }
  return fmt::format("; the bytes' standard deviation is {}",
                     format_percent(workload.batch_deviations->bytes / workload.batch_bytes));
}

std::string workload_text(const profiles::WorkloadProfile& workload) {
  std::string fanouts;
  for (const int fanout : workload.job.fanouts) {
    fanouts += (fanouts.empty() ? "" : ",") + std::to_string(fanout);
  }
  return fmt::format("graph    {}: {}, {}, {}\n", workload.graph,
                     format_counted(workload.vertices, "vertex", "vertices"),
                     format_counted(workload.edges, "edge", "edges"),
                     format_counted(workload.feature_columns, "feature", "features")) +
         fmt::format("job      {}, fanouts {}, hidden {}; {} of {} an epoch\n",
                     base::name_of(workload.job.model), fanouts, workload.job.hidden,
                     format_counted(workload.batches, "mini-batch", "mini-batches"),
                     format_counted(workload.job.batch_size, "vertex", "vertices")) +
         fmt::format("batch    {} vertices, {} edges, {} (means{})\n",
                     format_count(static_cast<std::int64_t>(workload.batch_vertices)),
                     format_count(static_cast<std::int64_t>(workload.batch_edges)),
                     format_bytes(workload.batch_bytes), deviation_text(workload)) +
         fmt::format("worker   samples with at most {} of memory\n",
                     or_unknown(sim::sampler_bytes(workload), format_bytes));
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
  return scaling_text("CPU preparation with", together) +
         scaling_text("a mini-batch shared by", workload.cpu_batch_speedup) +
         scaling_text("its sampling shared by", workload.cpu_sample_speedup) +
         scaling_text("device preparation with", workload.device_batch_speedup) +
         scaling_text("training with", workload.train_speedup);
}

std::string fused_text(const profiles::WorkloadProfile& workload) {
  const auto text = [](const char* where, const std::optional<double>& ratio) {
    return ratio
               ? fmt::format("training that reads features in place{} takes {:.2f}x as long\n", where, *ratio)
               : "";
  };
  return text("", workload.parts.fused_train_ratio) +
         text(" in a macro-batch", workload.parts.macro_train_ratio);
}

std::string evaluation_text(const std::optional<profiles::EvaluationProfile>& evaluation) {
  return evaluation ? fmt::format("evaluation on all cores takes {} and {} of host memory\n",
                                  or_unknown(evaluation->time_s, format_seconds) +
                                      (evaluation->time_s ? "" : " time"),
                                  format_bytes(evaluation->host_bytes))
                    : "";
}

/// Only slowdowns of at least 1 %.
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

/// What was never measured.
std::string beliefs_text(const Profile& profile) {
  std::string text;
  for (const auto& belief : profile.beliefs) {
    if (belief.samples == 0) {
      text += (text.empty() ? "" : ", ") + belief.of;
    }
  }
  return text.empty()
             ? ""
             : "not measured, so that intervals of predictions contain what is believed: " + text + "\n";
}

std::string busy_text(const Profile& profile) {
  const auto text = base::busy_text(profile.other_load);
  return text.empty() ? "" : text + "\n";
}

}  // namespace

std::string text_of(const Profile& whole) {
  const auto profile = profiles::measured_part(whole);
  Table table({"stage", "mean", "+-", "5 %", "50 %", "95 %", "samples", "stopped by"});
  const auto& workload = profile.workload;
  add_stage(table, "CPU preparation, one worker", workload.cpu_batch);
  if (workload.transfer.samples > 0) {
    add_stage(table, "transfer", workload.transfer);
  }
  add_stage(table, "device preparation, one thread", workload.device_batch);
  add_stage(table, "training, one thread", workload.train);
  return machine_text(profile.machine) + emulated_text(profile.machine) + gpu_text(profile.machine) +
         running_text(profile.machine.running) + disk_text(profile.machine.disk) + workload_text(workload) +
         table.text() + scaling_text(workload) + fused_text(workload) + evaluation_text(workload.evaluation) +
         contention_text(profile.machine.contention) +
         profiles::text_of(profiles::questionable_factors(profile.machine.contention)) + beliefs_text(whole) +
         learned_text(whole.learned) + busy_text(profile);
}

}  // namespace gnomon::apps
