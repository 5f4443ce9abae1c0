#include "profiles/more_cores.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/normal.h"
#include "profiles/beliefs.h"
#include "profiles/scaling.h"
#include "profiles/stage_work.h"

namespace gnomon::profiles {
namespace {

constexpr std::array lists{Scaled::workers, Scaled::worker_threads, Scaled::sampling, Scaled::training,
                           Scaled::preparing};

Together together_of(Scaled list) { return list == Scaled::workers ? Together::workers : Together::team; }

/// Whether threads of the host do this work.
bool is_on_cores(const Profile& profile, Scaled list) {
  const bool is_of_device = list == Scaled::training || list == Scaled::preparing;
  return !is_of_device || plan::runs_on_cores(profile.machine.device.kind);
}

int last_threads(const std::vector<ScalingPoint>& points, const MeasuredOn& measured) {
  return points.empty() ? measured.cores : points.back().threads;
}

/// The profile's belief of a point; null if it was measured as precisely as its stage.
const Belief* belief_of(const Profile& profile, Scaled list, int threads) {
  const auto belief = std::ranges::find(profile.beliefs, point_name(field_of(list), threads), &Belief::of);
  return belief == profile.beliefs.end() ? nullptr : &*belief;
}

/// The last point that was measured.
int measured_threads(const Profile& profile, Scaled list, const MeasuredOn& measured) {
  const auto& points = profile.workload.*points_of(list);
  for (auto point = points.rbegin(); point != points.rend(); ++point) {
    const Belief* belief = belief_of(profile, list, point->threads);
    if (belief == nullptr || belief->samples > 0) {
      return point->threads;
    }
  }
  return points.empty() ? measured.cores : 1;
}

/// "counts over the machine's speeds; hardware threads share cores; memory bandwidth stays or grows …".
std::string law_text(const Profile& profile, const CoreFacts& facts, bool by_speeds) {
  std::string text = by_speeds ? "counts over the machine's speeds" : "counts over nominal speeds";
  if (shares_cores(profile.machine.cpu, facts.speeds)) {
    text += "; hardware threads share cores";
  }
  if (profile.machine.cpu.cores > facts.measured) {
    text += facts.bandwidth_growth ? "; memory bandwidth as given"
                                   : "; memory bandwidth stays or grows with the cores";
  }
  return text;
}

RestsOn basis_of(const CoreFacts& facts, bool by_speeds) {
  return !by_speeds ? RestsOn::assumed : facts.bandwidth_growth ? RestsOn::data_sheet : RestsOn::speeds;
}

/// A worker's share of the cores falls as their number rises: as many workers on all cores but one slow a
/// stage down as they do on the measured machine. `more`: over that.
void share_contention(Contention& contention, int measured, int cores, double more) {
  const double share = std::max(1, measured - 1) / std::max(1.0, cores - 1.0) * more;
  for (auto Contention::*slowdown :
       {&Contention::train_beside_cpu_batch, &Contention::device_batch_beside_cpu_batch,
        &Contention::transfer_beside_cpu_batch}) {
    if (auto& value = contention.*slowdown; value && *value > 1) {
      *value = 1 + (*value - 1) * std::min(1.0, share);
    }
  }
}

/// States the profile's beliefs of points as intervals of these.
void state_beliefs(Profile& profile) {
  for (const Scaled list : lists) {
    for (ScalingPoint& point : profile.workload.*points_of(list)) {
      const Belief* belief = belief_of(profile, list, point.threads);
      if (belief != nullptr && !point.interval) {
        point.interval = std::expm1(base::normal_half_width * belief->deviation);
      }
    }
  }
}

bool reach(const Profile& profile, const MeasuredOn& measured) {
  return std::ranges::all_of(lists, [&](Scaled list) {
    return last_threads(profile.workload.*points_of(list), measured) >= profile.machine.cpu.cores;
  });
}

void scale_evaluation(Profile& profile, int measured) {
  auto& evaluation = profile.workload.evaluation;
  if (evaluation && evaluation->time_s && plan::runs_on_cores(profile.machine.device.kind)) {
    const auto& points = profile.workload.train_speedup;
    *evaluation->time_s *= speedup_at(points, measured) / speedup_at(points, profile.machine.cpu.cores);
  }
}

}  // namespace

MeasuredOn measured_on(const Profile& profile) {
  return {profile.machine.cpu.cores, profile.machine.cpu.memory_bandwidth_bytes_per_s};
}

std::string_view field_of(Scaled list) {
  switch (list) {
    case Scaled::workers:
      return "worker_efficiency";
    case Scaled::worker_threads:
      return "cpu_batch_speedup";
    case Scaled::sampling:
      return "cpu_sample_speedup";
    case Scaled::training:
      return "train_speedup";
    case Scaled::preparing:
      break;
  }
  return "device_batch_speedup";
}

std::vector<ScalingPoint> WorkloadProfile::*points_of(Scaled list) {
  switch (list) {
    case Scaled::workers:
      return &WorkloadProfile::worker_efficiency;
    case Scaled::worker_threads:
      return &WorkloadProfile::cpu_batch_speedup;
    case Scaled::sampling:
      return &WorkloadProfile::cpu_sample_speedup;
    case Scaled::training:
      return &WorkloadProfile::train_speedup;
    case Scaled::preparing:
      break;
  }
  return &WorkloadProfile::device_batch_speedup;
}

std::vector<Amount> work_of(const WorkloadProfile& workload, Scaled list) {
  if (list == Scaled::training) {
    return training_work(workload);
  }
  auto work = sampling_work(workload);
  if (list != Scaled::sampling) {
    const auto gathering = gathering_work(workload);
    work.insert(work.end(), gathering.begin(), gathering.end());
  }
  return work;
}

CoreFacts core_facts(const Profile& profile, const MeasuredOn& measured) {
  CoreFacts facts{.measured = measured.cores};
  if (profile.machine_speeds) {
    facts.speeds = &*profile.machine_speeds;
    for (const Speed& speed : facts.speeds->speeds) {  // of a machine to which the profile was moved
      facts.measured = std::max(facts.measured, speed.threads);
    }
  }
  const auto& cpu = profile.machine.cpu;
  if (const int physical = physical_cores_of(cpu); physical > 0 && cpu.cores > 0) {
    facts.physical = std::max(
        1, static_cast<int>(std::int64_t{std::min(facts.measured, cpu.cores)} * physical / cpu.cores));
  }
  const auto before = measured.memory_bandwidth_bytes_per_s;
  const auto after = cpu.memory_bandwidth_bytes_per_s;
  if (before && after && *before != *after) {
    facts.bandwidth_growth = *after / *before;
  }
  return facts;
}

Extended extended(Profile profile, const MeasuredOn& measured) {
  const int cores = profile.machine.cpu.cores;
  const auto facts = core_facts(profile, measured);
  Extended result;
  if (!reach(profile, measured)) {
    state_beliefs(profile);
  }
  for (const Scaled list : lists) {
    auto& points = profile.workload.*points_of(list);
    auto& extension = result.lists[static_cast<std::size_t>(list)];
    extension.measured = measured_threads(profile, list, measured);
    extension.continued_from = last_threads(points, measured);
    const bool is_part = list == Scaled::sampling && points.empty();  // scales as the whole
    if (cores <= extension.measured || is_part || !is_on_cores(profile, list)) {
      continue;
    }
    const auto work = work_of(profile.workload, list);
    const bool by_speeds = is_by_speeds(work, facts);
    if (cores <= extension.continued_from) {
      extension.rests_on = by_speeds ? RestsOn::speeds : RestsOn::assumed;
      extension.law = "believed before a measurement";
      continue;
    }
    if (points.empty()) {
      points.push_back({extension.continued_from, 1});
    }
    points = continued(std::move(points), work, facts, cores, together_of(list));
    extension.rests_on = basis_of(facts, by_speeds);
    extension.law = law_text(profile, facts, by_speeds);
  }
  if (cores > measured.cores) {
    const auto& workers = profile.workload.worker_efficiency;
    const double interval = workers.empty() ? 0 : workers.back().interval.value_or(0);
    result.more_contention = profile.machine.contention;
    share_contention(*result.more_contention, measured.cores, cores, 1 + interval);
    share_contention(profile.machine.contention, measured.cores, cores, 1);
  }
  if (cores != measured.cores) {
    scale_evaluation(profile, measured.cores);
  }
  result.profile = std::move(profile);
  return result;
}

}  // namespace gnomon::profiles
