#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "profiles/catalog.h"
#include "profiles/scale_times.h"
#include "profiles/speed_ratio.h"
#include "profiles/stage_work.h"

namespace gnomon::profiles {
namespace {

bool has_gpu(const MachineProfile& machine) { return !plan::runs_on_cores(machine.device.kind); }

std::vector<Amount> preparation_work(const WorkloadProfile& workload) {
  auto work = sampling_work(workload);
  const auto gathering = gathering_work(workload);
  work.insert(work.end(), gathering.begin(), gathering.end());
  return work;
}

std::string reason_of(const SpeedRatio& ratio) {
  return "measured " + text_of(ratio.by) +
         (ratio.left_out.empty() ? "" : "; without " + text_of(ratio.left_out));
}

/// `before` scaled to a mean of `mean_s`, of which `computed_s` has the ratio's interval.
StageTime rescaled(StageTime before, double mean_s, double computed_s, const SpeedRatio& ratio) {
  const double factor = mean_s / before.mean_s;
  const double measured_s = factor * before.interval_s;
  for (double StageTime::*part : {&StageTime::mean_s, &StageTime::deviation_s, &StageTime::p5_s,
                                  &StageTime::p50_s, &StageTime::p95_s}) {
    before.*part *= factor;
  }
  const double ratio_s = computed_s * ratio.interval;
  before.interval_s = ratio_s > 0 ? std::hypot(measured_s, ratio_s) : measured_s;
  return before;
}

/// Replaces the bandwidth-scaled times of stages for which speeds are known.
class BySpeeds {
 public:
  BySpeeds(const Profile& old, const MachineSpeeds& from, const MachineSpeeds& to, MovedProfile& moved)
      : old_(old), from_(from), to_(to), moved_(moved) {}

  void run() {
    move_cpu_batch();
    move_device_batch();
    move_train();
    move_transfer();
    assume_points();
    auto& cpu = moved_.profile.machine.cpu;  // properties of the program, not of the machine
    cpu.runtime_bytes = cpu.runtime_bytes ? cpu.runtime_bytes : old_.machine.cpu.runtime_bytes;
    moved_.profile.machine_speeds = to_;
  }

 private:
  const WorkloadProfile& before() const { return old_.workload; }
  WorkloadProfile& after() { return moved_.profile.workload; }
  Executor from(bool on_device) const { return {from_, on_device && has_gpu(old_.machine)}; }
  Executor to(bool on_device) const { return {to_, on_device && has_gpu(moved_.profile.machine)}; }

  /// `link_s` is the additional time over the link on the new machine.
  std::optional<double> set(const char* stage, StageTime WorkloadProfile::*time, bool on_device,
                            const std::vector<MeasuredPart>& parts, double link_s = 0) {
    const auto ratio = speed_ratio(parts, from(on_device), to(on_device));
    if (!ratio) {
      return std::nullopt;
    }
    double computed_s = 0;
    for (const auto& part : parts) {
      computed_s += part.seconds;
    }
    const double computed_there_s = computed_s * ratio->factor;
    after().*time = rescaled(before().*time, computed_there_s + link_s, computed_there_s, *ratio);
    tell(stage, (after().*time).mean_s / (before().*time).mean_s, *ratio);
    return ratio->factor;
  }

  void tell(const char* stage, double factor, const SpeedRatio& ratio) {
    for (auto& scaling : moved_.scalings) {
      if (scaling.stage == stage) {
        scaling = {stage, factor, false, reason_of(ratio), ratio.interval};
      }
    }
  }

  void move_cpu_batch() {
    const auto work = preparation_work(before());
    const auto& sample_s = before().parts.cpu_sample_s;
    const auto factor =
        set("cpu_batch", &WorkloadProfile::cpu_batch, false, {{before().cpu_batch.mean_s, work}});
    if (factor && sample_s) {
      move_sampling(*sample_s, false, 0, after().cpu_batch, after().parts.cpu_sample_s);
    }
    scale(after().parts.disk_rows_s, factor.value_or(1));
    scale(after().parts.disk_lists_s, factor.value_or(1));
    scale(after().parts.cache_choices_s, factor.value_or(1));
    scale(after().parts.macro_edge_s, factor.value_or(1));
    scale(after().parts.halo_entry_s, factor.value_or(1));
    scale(after().parts.find_hot_s, factor.value_or(1));
    move_points(&WorkloadProfile::cpu_batch_speedup, work);
    move_points(&WorkloadProfile::cpu_sample_speedup, sampling_work(before()));
    move_points(&WorkloadProfile::worker_efficiency, work);
  }

  void move_device_batch() {
    const auto work = preparation_work(before());
    const auto& parts = before().parts;
    const double computed_s = before().device_batch.mean_s - before().device_batch_link_s;
    if (set("device_batch", &WorkloadProfile::device_batch, true, {{computed_s, work}},
            after().device_batch_link_s) &&
        parts.device_sample_s) {
      const double sample_s =
          *parts.device_sample_s - std::min(*parts.device_sample_s, parts.device_sample_link_s.value_or(0));
      move_sampling(sample_s, true, after().parts.device_sample_link_s.value_or(0), after().device_batch,
                    after().parts.device_sample_s);
    }
    if (!has_gpu(moved_.profile.machine)) {
      move_points(&WorkloadProfile::device_batch_speedup, work);
    }
  }

  /// The part of a stage that draws neighbours, without what it reads over a link.
  void move_sampling(double sample_s, bool on_device, double link_s, const StageTime& whole,
                     std::optional<double>& part) {
    const MeasuredPart sampling{sample_s, sampling_work(before())};
    if (const auto ratio = speed_ratio(std::span(&sampling, 1), from(on_device), to(on_device))) {
      part = std::min(sample_s * ratio->factor + link_s, whole.mean_s);
    }
  }

  /// What several threads or workers take moves as kinds of work on several cores do, each relative to one.
  void move_points(std::vector<ScalingPoint> WorkloadProfile::*points, const std::vector<Amount>& work) {
    for (ScalingPoint& point : after().*points) {
      if (const auto ratio = speedup_ratio(work, &from_, to_, point.threads)) {
        point.value *= ratio->factor;
        point.interval = ratio->interval;
      }
    }
  }

  /// A profile of one core gets what kinds of work do on all cores of the new machine: of training and of
  /// workers. Threads that share one mini-batch's preparation wait for each other more often than any probe.
  void assume_points() {
    const int cores = moved_.profile.machine.cpu.cores;
    if (old_.machine.cpu.cores > 1 || cores == 1) {
      return;
    }
    if (const auto speedup = speedup_ratio(preparation_work(before()), nullptr, to_, cores)) {
      after().worker_efficiency = {{1, 1}, {cores, speedup->factor / cores, speedup->interval}};
    }
    const auto speedup = speedup_ratio(training_work(before()), nullptr, to_, cores);
    if (speedup && !has_gpu(moved_.profile.machine)) {
      after().train_speedup = {{1, 1}, {cores, speedup->factor, speedup->interval}};
    }
  }

  void move_train() {
    const auto work = training_work(before());
    const auto factor = set("train", &WorkloadProfile::train, true, {{before().train.mean_s, work}});
    if (has_gpu(moved_.profile.machine)) {
      return;
    }
    move_points(&WorkloadProfile::train_speedup, work);
    if (factor && !has_gpu(old_.machine)) {
      scale(after().parts.refresh_s, *factor);
      scale(after().parts.update_s, *factor);
      scale(after().parts.average_s, *factor);
    }
  }

  /// Only between two links: the time over a new link follows from its bandwidth.
  void move_transfer() {
    if (has_gpu(old_.machine) && has_gpu(moved_.profile.machine)) {
      const Amount copy{Work::link_copies, before().batch_bytes, before().batch_bytes};
      set("transfer", &WorkloadProfile::transfer, false, {{before().transfer.mean_s, {copy}}});
    }
  }

  const Profile& old_;
  const MachineSpeeds& from_;
  const MachineSpeeds& to_;
  MovedProfile& moved_;
};

/// The profile as it was measured, with the fields that a user may have changed in the machine's document.
MovedProfile on_same_machine(Profile profile, const MachineProfile& machine) {
  profile.machine.cpu.cores = machine.cpu.cores;
  if (machine.running.price_per_hour) {
    profile.machine.running.price_per_hour = machine.running.price_per_hour;
  }
  MovedProfile moved{std::move(profile), {}};
  for (const char* stage : {"cpu_batch", "transfer", "device_batch", "train"}) {
    moved.scalings.push_back({stage, 1.0, false, "the same machine", 0.0});
  }
  return moved;
}

void refuse_other(const std::string& where, const char* what, const std::string& told,
                  const std::string& measured) {
  if (told != measured) {
    throw base::InputError(where, "is the document of another machine: " + std::string(what) + " \"" + told +
                                      "\", not \"" + measured + "\"");
  }
}

}  // namespace

MovedProfile move_to_machine(const Profile& profile, const CatalogMachine& machine,
                             const std::optional<MachineSpeeds>& from) {
  if (!from || !machine.speeds) {
    return move_to_machine(profile, machine.machine);
  }
  if (*from == *machine.speeds) {
    return on_same_machine(profile, machine.machine);
  }
  auto moved = move_to_machine(profile, machine.machine);
  BySpeeds(profile, *from, *machine.speeds, moved).run();
  return moved;
}

MachineSpeeds speeds_of(const CatalogMachine& machine, const MachineProfile& measured,
                        const std::string& where) {
  if (!machine.speeds) {
    throw base::InputError(where, "has no measured speeds; write it with gnomon machine -o FILE");
  }
  const auto& told = machine.machine;
  refuse_other(where, "processor", told.cpu.name, measured.cpu.name);
  refuse_other(where, "cores", std::to_string(told.cpu.cores), std::to_string(measured.cpu.cores));
  if (has_gpu(measured)) {
    refuse_other(where, "device", told.device.name, measured.device.name);
  }
  return *machine.speeds;
}

}  // namespace gnomon::profiles
