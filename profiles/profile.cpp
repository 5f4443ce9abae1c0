#include "profiles/profile.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "base/error.h"

namespace gnomon::profiles {
namespace {

using base::InputError;

void check_stage(const StageTime& time, bool may_be_free, const std::string& path) {
  if (!may_be_free && time.mean_s <= 0) {
    throw InputError(path + ".mean_s", "0 is not a measured time; use a number above 0");
  }
  if (time.p5_s > time.p50_s || time.p50_s > time.p95_s) {
    throw InputError(path, "percentiles fall; use p5_s <= p50_s <= p95_s");
  }
}

void check_scaling(const std::vector<ScalingPoint>& points, const std::string& path) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].threads <= points[i - 1].threads) {
      throw InputError(path + "[" + std::to_string(i) + "].threads",
                       std::to_string(points[i].threads) + " follows " +
                           std::to_string(points[i - 1].threads) + "; use points with rising threads");
    }
  }
}

void check_accesses(const Accesses& accesses, const std::string& path) {
  for (std::size_t c = 0; c < accesses.curves.size(); ++c) {
    const auto& points = accesses.curves[c].points;
    for (std::size_t i = 1; i < points.size(); ++i) {
      if (points[i].share <= points[i - 1].share || points[i].hits < points[i - 1].hits) {
        throw InputError(path + ".curves[" + std::to_string(c) + "].points[" + std::to_string(i) + "]",
                         "does not rise; use points with rising share and hits");
      }
    }
  }
}

void check_part(std::optional<double> part_s, double whole_s, const std::string& path, const char* whole) {
  if (part_s && *part_s > whole_s) {
    throw InputError(path,
                     std::string("is longer than ") + whole + "; use at most " + base::Json(whole_s).dump());
  }
}

/// Throws if the error is as large as the ratio.
void check_correction(const std::optional<Correction>& correction, const std::string& path) {
  if (correction && correction->standard_error >= correction->ratio) {
    throw InputError(path + ".standard_error",
                     "is not below the ratio; leave out a correction that is so uncertain");
  }
}

void check_corrections(const Corrections& corrections, const std::string& path) {
  check_correction(corrections.cpu_batch, path + ".cpu_batch");
  check_correction(corrections.transfer, path + ".transfer");
  check_correction(corrections.device_batch, path + ".device_batch");
  check_correction(corrections.train, path + ".train");
}

}  // namespace

void check(const Profile& profile, const std::string& where) {
  const std::string path = where + ": workload";
  const WorkloadProfile& workload = profile.workload;
  check_stage(workload.cpu_batch, false, path + ".cpu_batch");
  check_stage(workload.transfer, true, path + ".transfer");
  check_stage(workload.device_batch, false, path + ".device_batch");
  check_stage(workload.train, false, path + ".train");
  if (workload.device_batch_link_s > workload.device_batch.mean_s) {
    throw InputError(path + ".device_batch_link_s",
                     "is longer than the whole device_batch.mean_s; use at most " +
                         base::Json(workload.device_batch.mean_s).dump());
  }
  if (profile.machine.device.kind == DeviceKind::host && workload.device_batch_link_s > 0) {
    throw InputError(path + ".device_batch_link_s", "a host device has no link; use 0");
  }
  if (profile.machine_speeds) {
    check(*profile.machine_speeds, where + ": machine_speeds");
  }
  check_scaling(workload.worker_efficiency, path + ".worker_efficiency");
  check_scaling(workload.cpu_batch_speedup, path + ".cpu_batch_speedup");
  check_scaling(workload.cpu_sample_speedup, path + ".cpu_sample_speedup");
  check_scaling(workload.train_speedup, path + ".train_speedup");
  check_scaling(workload.device_batch_speedup, path + ".device_batch_speedup");
  check_part(workload.parts.cpu_sample_s, workload.cpu_batch.mean_s, path + ".parts.cpu_sample_s",
             "cpu_batch.mean_s");
  check_part(workload.parts.device_sample_s, workload.device_batch.mean_s, path + ".parts.device_sample_s",
             "device_batch.mean_s");
  check_part(workload.parts.device_sample_link_s, workload.device_batch_link_s,
             path + ".parts.device_sample_link_s", "device_batch_link_s");
  check_accesses(workload.features, path + ".features");
  check_accesses(workload.topology, path + ".topology");
  if (const auto& parts = workload.store_parts;
      parts && (parts->vertices.empty() || parts->edges.size() != parts->vertices.size() ||
                parts->train_vertices.size() != parts->vertices.size())) {
    throw InputError(path + ".store_parts", "vertices, edges and train_vertices need a value for each part");
  }
  if (workload.list_blocks) {
    check_accesses(workload.list_blocks->accesses, path + ".list_blocks.accesses");
  }
  if (profile.corrections) {
    check_corrections(*profile.corrections, where + ": corrections");
  }
  if (profile.learned) {
    for (const auto& known : profile.learned->regimes) {
      check_corrections(known.stages, where + ": learned.regimes.stages");
    }
  }
}

void forget_unmeasured(Profile& profile) {
  Contention& contention = profile.machine.contention;
  bool has_all = true;
  const auto look = [&has_all](std::string_view name, const auto& slowdown, base::Range) {
    const bool is_newer = name == "train_beside_train" || name == "device_batch_beside_device_batch" ||
                          name.ends_with("_workers");
    has_all = has_all && (slowdown.has_value() || is_newer);
  };
  Contention::fields(contention, look);
  if (!has_all) {
    return;
  }
  const double cores = profile.machine.cpu.cores;
  const auto forget = [cores](std::optional<double>& crowded, double beside) {
    const double unmeasured = std::clamp(cores / (cores + 1) / beside, 0.5, 100.0);
    if (std::abs(*crowded - unmeasured) <= 1e-9 * unmeasured) {
      crowded.reset();
    }
  };
  forget(contention.crowded_team, *contention.train_beside_cpu_batch);
  forget(contention.beside_crowded_team, *contention.cpu_batch_beside_train);
}

int physical_cores_of(const Cpu& cpu) {
  const int counted = std::accumulate(cpu.node_cores.begin(), cpu.node_cores.end(), 0);
  const int physical = cpu.physical_cores.value_or(0);
  if (counted == 0 || cpu.cores <= counted) {
    return std::min(physical, cpu.cores);
  }
  return static_cast<int>(std::int64_t{cpu.cores} * physical / counted);
}

Profile read_profile(const std::filesystem::path& path) {
  auto profile = base::read_document<Profile>(path);
  forget_unmeasured(profile);
  check(profile, path.string());
  return profile;
}

}  // namespace gnomon::profiles
