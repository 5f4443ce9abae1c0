#include "profiles/beliefs.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/doubling.h"
#include "base/normal.h"
#include "profiles/profile.h"
#include "profiles/speed_ratio.h"
#include "profiles/stage_work.h"

namespace gnomon::profiles {
namespace {

using Points = std::vector<ScalingPoint> WorkloadProfile::*;
using OptionalPart = std::optional<double> StageParts::*;
using OptionalSlowdown = std::optional<double> Contention::*;

/// A belief before any measurement. Those below are assumptions.
struct Prior {
  double median;
  double deviation;
};

/// Threads that share the work of a stage: between one thread's speed and as many times as fast.
Prior prior_of_threads(int threads) { return {std::pow(threads, 0.6), 0.15 * std::log2(2.0 * threads)}; }

/// Each worker's speed beside the others.
Prior prior_of_workers(int workers) { return {std::pow(workers, -0.15), 0.07 * std::log2(2.0 * workers)}; }

double& point_at(std::vector<ScalingPoint>& points, int threads, double median) {
  const auto at = std::ranges::lower_bound(points, threads, {}, &ScalingPoint::threads);
  if (at != points.end() && at->threads == threads) {
    return at->value;
  }
  return points.insert(at, ScalingPoint{threads, median, {}})->value;
}

const ScalingPoint* find_point(const std::vector<ScalingPoint>& points, int threads) {
  const auto at = std::ranges::find(points, threads, &ScalingPoint::threads);
  return at == points.end() ? nullptr : &*at;
}

class Rows {
 public:
  explicit Rows(const Profile& profile) : profile_(profile) {}

  std::vector<Quantity> all() && {
    add_stages();
    for (const int threads : base::doubling(profile_.machine.cpu.cores)) {
      if (threads > 1) {
        add_threads(threads);
      }
    }
    add_parts();
    if (profile_.machine.cpu.cores > 1) {
      add_slowdowns();
    }
    return std::move(rows_);
  }

 private:
  bool on_cores() const { return plan::runs_on_cores(profile_.machine.device.kind); }
  bool has_link() const { return plan::has_link(profile_.machine.device.kind); }

  void add_stage(const char* name, StageTime WorkloadProfile::*stage) {
    constexpr Prior never_measured{1e-3, 0.5};
    rows_.push_back({.name = name,
                     .kind = QuantityKind::stage_time,
                     .of = [stage](Profile& p) -> double& { return (p.workload.*stage).mean_s; },
                     .is_known = [stage](const Profile& p) { return (p.workload.*stage).mean_s > 0; },
                     .forget = [](Profile& /*profile*/) {},
                     .median = never_measured.median,
                     .deviation = never_measured.deviation});
  }

  void add_stages() {
    add_stage("cpu_batch", &WorkloadProfile::cpu_batch);
    add_stage("device_batch", &WorkloadProfile::device_batch);
    add_stage("train", &WorkloadProfile::train);
    if (has_link()) {
      add_stage("transfer", &WorkloadProfile::transfer);
    }
  }

  void add_point(const char* list, Points points, int threads, Favours favours, const Prior& prior) {
    const auto point = [points, threads](const Profile& p) {
      return find_point(p.workload.*points, threads);
    };
    rows_.push_back({.name = point_name(list, threads),
                     .kind = QuantityKind::speed_up,
                     .favours = favours,
                     .of = [points, threads, median = prior.median](Profile& p) -> double& {
                       return point_at(p.workload.*points, threads, median);
                     },
                     .is_known = [point](const Profile& p) { return point(p) != nullptr; },
                     .forget =
                         [points, threads](Profile& p) {
                           std::erase_if(p.workload.*points,
                                         [&](const ScalingPoint& each) { return each.threads == threads; });
                         },
                     .point = point,
                     .median = prior.median,
                     .deviation = prior.deviation});
  }

  /// By the machine's speeds at this work, where they are known.
  Prior by_speeds(const std::vector<Amount>& work, int threads, const Prior& otherwise, double over) const {
    const auto& speeds = profile_.machine_speeds;
    const auto speedup = speeds ? speedup_ratio(work, nullptr, *speeds, threads) : std::nullopt;
    constexpr double of_threads = 0.15;  // what waiting for each other takes, which no kind of work has
    return speedup ? Prior{speedup->factor / over,
                           std::hypot(speedup->interval / base::normal_half_width, of_threads)}
                   : otherwise;
  }

  void add_threads(int threads) {
    const auto& workload = profile_.workload;
    auto preparing = sampling_work(workload);
    const auto gathering = gathering_work(workload);
    preparing.insert(preparing.end(), gathering.begin(), gathering.end());
    const auto sharing = prior_of_threads(threads);
    add_point("worker_efficiency", &WorkloadProfile::worker_efficiency, threads, Favours::workers,
              by_speeds(preparing, threads, prior_of_workers(threads), threads));
    add_point("cpu_batch_speedup", &WorkloadProfile::cpu_batch_speedup, threads, Favours::worker_threads,
              sharing);
    if (has_link()) {
      add_point("cpu_sample_speedup", &WorkloadProfile::cpu_sample_speedup, threads, Favours::worker_threads,
                sharing);
    }
    if (on_cores()) {
      add_point("train_speedup", &WorkloadProfile::train_speedup, threads, Favours::device_threads,
                by_speeds(training_work(workload), threads, sharing, 1));
      add_point("device_batch_speedup", &WorkloadProfile::device_batch_speedup, threads,
                Favours::device_threads, sharing);
    }
  }

  template <class Holder>
  void add_optional(const char* name, Favours favours, Holder&& holder, const Prior& prior) {
    rows_.push_back({.name = name,
                     .favours = favours,
                     .of = [holder, median = prior.median](Profile& p) -> double& {
                       std::optional<double>& value = holder(p);
                       return value ? *value : value.emplace(median);
                     },
                     .is_known = [holder](const Profile& p) { return holder(p).has_value(); },
                     .forget = [holder](Profile& p) { holder(p).reset(); },
                     .median = prior.median,
                     .deviation = prior.deviation});
  }

  void add_part(const char* name, OptionalPart part, Favours favours, const Prior& prior) {
    add_optional(
        name, favours, [part](auto& p) -> auto& { return p.workload.parts.*part; }, prior);
  }

  void add_parts() {
    // Sampling is roughly half of preparation: features are gathered besides.
    const auto half = [](const StageTime& time) { return Prior{std::max(1e-9, time.mean_s / 2), 0.4}; };
    add_part("device_sample_s", &StageParts::device_sample_s, Favours::fused_training,
             half(profile_.workload.device_batch));
    add_part("fused_train_ratio", &StageParts::fused_train_ratio, Favours::fused_training, {1.1, 0.2});
    if (has_link()) {
      add_part("cpu_sample_s", &StageParts::cpu_sample_s, Favours::workers,
               half(profile_.workload.cpu_batch));
      add_part("structure_transfer_ratio", &StageParts::structure_transfer_ratio, Favours::workers,
               {0.3, 0.5});
    }
    if (!on_cores()) {
      add_part("prepare_share_ratio", &StageParts::prepare_share_ratio, Favours::workers, {1.3, 0.3});
      add_part("graphs_train_ratio", &StageParts::graphs_train_ratio, Favours::workers, {0.8, 0.3});
    }
  }

  void add_slowdown(const char* name, OptionalSlowdown slowdown, Favours favours, const Prior& prior) {
    add_optional(
        name, favours, [slowdown](auto& p) -> auto& { return p.machine.contention.*slowdown; }, prior);
  }

  void add_beside(const char* name, OptionalSlowdown slowdown) {
    add_slowdown(name, slowdown, Favours::workers, {1.08, 0.1});
  }

  void add_slowdowns() {
    const bool in_pipelines = measures_pipelines(profile_.machine.device.kind, profile_.machine.cpu.cores);
    if (in_pipelines) {
      add_beside("transfer_beside_workers", &Contention::transfer_beside_workers);
      add_beside("train_beside_workers", &Contention::train_beside_workers);
      add_beside("device_batch_beside_workers", &Contention::device_batch_beside_workers);
      add_beside("workers_beside_device", &Contention::workers_beside_device);
    } else {
      add_side_by_side();
    }
    if (in_pipelines || (on_cores() && has_link())) {
      add_beside("device_batch_beside_train", &Contention::device_batch_beside_train);
      add_beside("train_beside_device_batch", &Contention::train_beside_device_batch);
    }
    if (on_cores()) {
      add_slowdown("crowded_team", &Contention::crowded_team, Favours::device_threads, {1.2, 0.2});
      add_slowdown("beside_crowded_team", &Contention::beside_crowded_team, Favours::device_threads,
                   {1.0, 0.15});
    }
    if (on_cores() && profile_.machine.device.count > 1) {
      add_beside("train_beside_train", &Contention::train_beside_train);
      add_beside("device_batch_beside_device_batch", &Contention::device_batch_beside_device_batch);
    }
  }

  void add_side_by_side() {
    add_beside("cpu_batch_beside_train", &Contention::cpu_batch_beside_train);
    add_beside("train_beside_cpu_batch", &Contention::train_beside_cpu_batch);
    add_beside("cpu_batch_beside_device_batch", &Contention::cpu_batch_beside_device_batch);
    add_beside("device_batch_beside_cpu_batch", &Contention::device_batch_beside_cpu_batch);
    if (has_link()) {
      add_beside("cpu_batch_beside_transfer", &Contention::cpu_batch_beside_transfer);
      add_beside("transfer_beside_cpu_batch", &Contention::transfer_beside_cpu_batch);
    }
    if (has_link() && on_cores()) {
      add_beside("transfer_beside_train", &Contention::transfer_beside_train);
      add_beside("train_beside_transfer", &Contention::train_beside_transfer);
    }
  }

  const Profile& profile_;
  std::vector<Quantity> rows_;
};

}  // namespace

std::vector<Quantity> quantities_of(const Profile& profile) { return Rows(profile).all(); }

const Quantity* find_quantity(const std::vector<Quantity>& quantities, std::string_view name) {
  const auto found = std::ranges::find(quantities, name, &Quantity::name);
  return found == quantities.end() ? nullptr : &*found;
}

std::string point_name(std::string_view list, int threads) {
  return std::string(list) + "@" + std::to_string(threads);
}

void add_beliefs(Profile& profile) {
  for (const Quantity& quantity : quantities_of(profile)) {
    if (std::ranges::find(profile.beliefs, quantity.name, &Belief::of) == profile.beliefs.end() &&
        !quantity.is_known(profile)) {
      quantity.of(profile);
      profile.beliefs.push_back({quantity.name, quantity.deviation, 0});
    }
  }
}

Profile measured_part(Profile profile) {
  const auto quantities = quantities_of(profile);
  for (const Belief& belief : profile.beliefs) {
    const auto* const quantity = find_quantity(quantities, belief.of);
    if (belief.samples == 0 && quantity != nullptr) {
      quantity->forget(profile);
    }
  }
  std::erase_if(profile.beliefs, [](const Belief& belief) { return belief.samples == 0; });
  return profile;
}

}  // namespace gnomon::profiles
