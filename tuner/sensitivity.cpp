#include "tuner/sensitivity.h"

#include <algorithm>
#include <cmath>

#include "base/document.h"
#include "base/error.h"
#include "base/processes.h"
#include "tuner/search/point_facts.h"

namespace gnomon::tuner {
namespace {

constexpr std::int64_t max_batches = 400;
constexpr int evaluations = 16;

void scale(profiles::StageTime& time, double factor) {
  for (double* seconds :
       {&time.mean_s, &time.deviation_s, &time.p5_s, &time.p50_s, &time.p95_s, &time.interval_s}) {
    *seconds *= factor;
  }
}

void scale(std::optional<double>& quantity, double factor) {
  if (quantity) {
    *quantity *= factor;
  }
}

/// The epoch of the plan, or of the best that a short search finds; infinite when the plan is not possible
/// there.
double best_epoch_s(const profiles::Profile& profile, const plan::Plan& plan, const SearchSetup& setup) {
  double best_s = std::numeric_limits<double>::infinity();
  try {
    best_s = setup.predict(profile, plan).epoch_s;
    const Space space = make_space(setup.request(profile));
    PointFacts facts(profile, space);
    const auto evaluate = one_by_one([&](const plan::Plan& other) { return setup.predict(profile, other); });
    const auto found = search({profile, space, facts, 0}, StrategyKind::automatic,
                              {.evaluations = evaluations}, evaluate, {});
    best_s = std::min(best_s, found.best.prediction.epoch_s);
  } catch (const base::InputError&) {
    // The plan does not go with the change; there is nothing to say of it.
  } catch (const base::Failure&) {
    // No plan keeps to the limits there.
  }
  return best_s;
}

}  // namespace

std::vector<Change> changes_of(const profiles::Profile& profile) {
  std::vector<Change> changes;
  const auto add = [&](std::string name, const auto& apply) {
    apply(changes.emplace_back(std::move(name), profile).profile);
  };
  const bool has_gpu = profile.machine.device.kind == profiles::DeviceKind::cuda;
  const int more = std::max(1, std::min(8, profile.machine.cpu.cores));
  add(std::to_string(more) + (more == 1 ? " more core" : " more cores"),
      [&](profiles::Profile& p) { p.machine.cpu.cores += more; });
  add("CPU batching twice as fast", [](profiles::Profile& p) {
    scale(p.workload.cpu_batch, 0.5);
    scale(p.workload.parts.cpu_sample_s, 0.5);
  });
  add("training twice as fast", [](profiles::Profile& p) { scale(p.workload.train, 0.5); });
  if (has_gpu) {
    add("twice the link's bandwidth", [](profiles::Profile& p) {
      auto& workload = p.workload;
      scale(workload.transfer, 0.5);
      if (workload.device_batch.mean_s > 0) {
        scale(workload.device_batch, 1 - 0.5 * workload.device_batch_link_s / workload.device_batch.mean_s);
      }
      workload.device_batch_link_s /= 2;
      scale(workload.parts.device_sample_link_s, 0.5);
      scale(p.machine.link.bandwidth_bytes_per_s, 2);
    });
  }
  if (profile.machine.device.memory_bytes) {
    add("twice the device's memory", [](profiles::Profile& p) { scale(p.machine.device.memory_bytes, 2); });
  }
  return changes;
}

profiles::Profile shortened(profiles::Profile profile, std::int64_t batches) {
  profile.workload.batches = std::min(profile.workload.batches, batches);
  return profile;
}

std::vector<Sensitivity> sensitivities(const profiles::Profile& profile, const plan::Plan& plan,
                                       const SearchSetup& setup) {
  const auto here = shortened(profile, max_batches);
  const double now_s = setup.predict(here, plan).epoch_s;
  const auto changes = changes_of(here);
  const auto search_one = [&](std::int64_t number) {
    const double then_s = best_epoch_s(changes[static_cast<std::size_t>(number)].profile, plan, setup);
    return std::isfinite(then_s) ? base::Json(then_s).dump() : std::string();
  };
  const auto epochs_s =
      base::in_processes(std::ssize(changes), setup.processes, search_one, {}, "what would help");
  std::vector<Sensitivity> found;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (!epochs_s[i].empty() && now_s > 0) {
      found.push_back({changes[i].name, base::Json::parse(epochs_s[i]).get<double>() / now_s - 1});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Sensitivity& a, const Sensitivity& b) { return a.share < b.share; });
  return found;
}

}  // namespace gnomon::tuner
