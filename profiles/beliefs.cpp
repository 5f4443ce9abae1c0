#include "profiles/beliefs.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/doubling.h"
#include "profiles/profile.h"
#include "profiles/speed_ratio.h"
#include "profiles/stage_work.h"

namespace gnomon::profiles {
namespace {

using Points = std::vector<ScalingPoint> WorkloadProfile::*;
using OptionalPart = std::optional<double> StageParts::*;
using OptionalSlowdown = std::optional<double> Contention::*;

/// A belief before any measurement.
struct Prior {
  double median;
  double deviation;
};

/// Threads that share the work of a stage: between one thread's speed and as many times as fast.
Prior prior_of_threads(int threads) { return {std::pow(threads, 0.6), 0.15 * std::log2(2.0 * threads)}; }

/// Each worker's speed beside the others.
Prior prior_of_workers(int workers) { return {std::pow(workers, -0.15), 0.07 * std::log2(2.0 * workers)}; }

double& point_at(std::vector<ScalingPoint>& points, int threads, double median) {
  const auto at = std::lower_bound(points.begin(), points.end(), threads,
                                   [](const ScalingPoint& point, int t) { return point.threads < t; });
  if (at != points.end() && at->threads == threads) {
    return at->value;
  }
  return points.insert(at, ScalingPoint{threads, median, {}})->value;
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
    constexpr double never_measured = 0.5;
    rows_.push_back({name, [stage](Profile& p) -> double& { return (p.workload.*stage).mean_s; },
                     [stage](const Profile& p) { return (p.workload.*stage).mean_s > 0; },
                     [](Profile& /*profile*/) {}, 1e-3, never_measured});
  }

  void add_stages() {
    add_stage("cpu_batch", &WorkloadProfile::cpu_batch);
    add_stage("device_batch", &WorkloadProfile::device_batch);
    add_stage("train", &WorkloadProfile::train);
    if (has_link()) {
      add_stage("transfer", &WorkloadProfile::transfer);
    }
  }

  void add_points(const char* name, Points points, int threads, const Prior& prior) {
    const double median = prior.median;
    rows_.push_back({std::string(name) + "@" + std::to_string(threads),
                     [points, threads, median](Profile& p) -> double& {
                       return point_at(p.workload.*points, threads, median);
                     },
                     [points, threads](const Profile& p) {
                       const auto& known = p.workload.*points;
                       return std::any_of(known.begin(), known.end(),
                                          [&](const auto& k) { return k.threads == threads; });
                     },
                     [points, threads](Profile& p) {
                       std::erase_if(p.workload.*points, [&](const auto& k) { return k.threads == threads; });
                     },
                     median, prior.deviation});
  }

  /// By the machine's speeds at this work, where they are known.
  Prior by_speeds(const std::vector<Amount>& work, int threads, const Prior& otherwise, double over) const {
    const auto& speeds = profile_.machine_speeds;
    const auto speedup = speeds ? speedup_ratio(work, nullptr, *speeds, threads) : std::nullopt;
    constexpr double normal_half_width = 1.96;
    constexpr double of_threads = 0.15;  // what waiting for each other takes, which no kind of work has
    return speedup
               ? Prior{speedup->factor / over, std::hypot(speedup->interval / normal_half_width, of_threads)}
               : otherwise;
  }

  void add_threads(int threads) {
    const auto& workload = profile_.workload;
    auto preparing = sampling_work(workload);
    const auto gathering = gathering_work(workload);
    preparing.insert(preparing.end(), gathering.begin(), gathering.end());
    const auto sharing = prior_of_threads(threads);
    add_points("worker_efficiency", &WorkloadProfile::worker_efficiency, threads,
               by_speeds(preparing, threads, prior_of_workers(threads), threads));
    add_points("cpu_batch_speedup", &WorkloadProfile::cpu_batch_speedup, threads, sharing);
    if (has_link()) {
      add_points("cpu_sample_speedup", &WorkloadProfile::cpu_sample_speedup, threads, sharing);
    }
    if (on_cores()) {
      add_points("train_speedup", &WorkloadProfile::train_speedup, threads,
                 by_speeds(training_work(workload), threads, sharing, 1));
      add_points("device_batch_speedup", &WorkloadProfile::device_batch_speedup, threads, sharing);
    }
  }

  template <class Holder>
  void add_optional(const char* name, Holder&& holder, const Prior& prior) {
    const double median = prior.median;
    rows_.push_back({name,
                     [holder, median](Profile& p) -> double& {
                       std::optional<double>& value = holder(p);
                       return value ? *value : value.emplace(median);
                     },
                     [holder](const Profile& p) { return holder(const_cast<Profile&>(p)).has_value(); },
                     [holder](Profile& p) { holder(p).reset(); }, median, prior.deviation});
  }

  void add_part(const char* name, OptionalPart part, const Prior& prior) {
    add_optional(
        name, [part](Profile& p) -> std::optional<double>& { return p.workload.parts.*part; }, prior);
  }

  void add_parts() {
    // Sampling is roughly half of preparation: features are gathered besides.
    const auto half = [](const StageTime& time) { return Prior{std::max(1e-9, time.mean_s / 2), 0.4}; };
    add_part("device_sample_s", &StageParts::device_sample_s, half(profile_.workload.device_batch));
    add_part("fused_train_ratio", &StageParts::fused_train_ratio, {1.1, 0.2});
    if (has_link()) {
      add_part("cpu_sample_s", &StageParts::cpu_sample_s, half(profile_.workload.cpu_batch));
      add_part("structure_transfer_ratio", &StageParts::structure_transfer_ratio, {0.3, 0.5});
    }
    if (!on_cores()) {
      add_part("prepare_share_ratio", &StageParts::prepare_share_ratio, {1.3, 0.3});
      add_part("graphs_train_ratio", &StageParts::graphs_train_ratio, {0.8, 0.3});
    }
  }

  void add_slowdown(const char* name, OptionalSlowdown slowdown, const Prior& prior) {
    add_optional(
        name, [slowdown](Profile& p) -> std::optional<double>& { return p.machine.contention.*slowdown; },
        prior);
  }

  void add_slowdowns() {
    constexpr Prior beside{1.08, 0.1};
    add_slowdown("cpu_batch_beside_train", &Contention::cpu_batch_beside_train, beside);
    add_slowdown("train_beside_cpu_batch", &Contention::train_beside_cpu_batch, beside);
    add_slowdown("cpu_batch_beside_device_batch", &Contention::cpu_batch_beside_device_batch, beside);
    add_slowdown("device_batch_beside_cpu_batch", &Contention::device_batch_beside_cpu_batch, beside);
    if (has_link()) {
      add_slowdown("transfer_beside_train", &Contention::transfer_beside_train, beside);
      add_slowdown("train_beside_transfer", &Contention::train_beside_transfer, beside);
      add_slowdown("cpu_batch_beside_transfer", &Contention::cpu_batch_beside_transfer, beside);
      add_slowdown("transfer_beside_cpu_batch", &Contention::transfer_beside_cpu_batch, beside);
      add_slowdown("device_batch_beside_train", &Contention::device_batch_beside_train, beside);
      add_slowdown("train_beside_device_batch", &Contention::train_beside_device_batch, beside);
    }
    if (on_cores()) {
      constexpr Prior crowded{1.2, 0.2};
      add_slowdown("crowded_team", &Contention::crowded_team, crowded);
      add_slowdown("beside_crowded_team", &Contention::beside_crowded_team, {1.0, 0.15});
    }
  }

  const Profile& profile_;
  std::vector<Quantity> rows_;
};

}  // namespace

std::vector<Quantity> quantities_of(const Profile& profile) { return Rows(profile).all(); }

void add_beliefs(Profile& profile) {
  for (const Quantity& quantity : quantities_of(profile)) {
    const bool is_believed = std::any_of(profile.beliefs.begin(), profile.beliefs.end(),
                                         [&](const Belief& belief) { return belief.of == quantity.name; });
    if (!is_believed && !quantity.is_known(profile)) {
      quantity.of(profile);
      profile.beliefs.push_back({quantity.name, quantity.deviation, 0});
    }
  }
}

Profile measured_part(Profile profile) {
  const auto quantities = quantities_of(profile);
  for (const Belief& belief : profile.beliefs) {
    const auto quantity = std::ranges::find(quantities, belief.of, &Quantity::name);
    if (belief.samples == 0 && quantity != quantities.end()) {
      quantity->forget(profile);
    }
  }
  std::erase_if(profile.beliefs, [](const Belief& belief) { return belief.samples == 0; });
  return profile;
}

}  // namespace gnomon::profiles
