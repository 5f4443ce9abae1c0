#include "tuner/search/preference.h"

#include <algorithm>
#include <tuple>

namespace gnomon::tuner {
namespace {

/// Twice the buffers of a default plan (plan::Plan), so that a batch that takes twice its usual time stops no
/// lane.
constexpr int usual_cpu_buffer = 4;
constexpr int usual_device_buffer = 4;

int threads_without_core(const plan::Plan& plan, const plan::Cores& cores) {
  const int threads =
      plan.workers * plan.worker_threads + (plan::runs_on_cores(cores.device) ? plan.device_threads : 0);
  return std::max(0, threads - cores.count);
}

int beyond_usual_buffers(const plan::Plan& plan) {
  const bool has_buffers = plan.schedule != plan::Schedule::sequential;
  return has_buffers ? std::max(0, plan.cpu_buffer - usual_cpu_buffer) +
                           std::max(0, plan.device_buffer - usual_device_buffer)
                     : 0;
}

}  // namespace

plan::Plan with_usual_buffers(plan::Plan plan) {
  using plan::Schedule;
  // Plans that take turns have no buffers, and the two of dual_buffer set the ratio of its routes.
  if (plan.schedule != Schedule::sequential && plan.schedule != Schedule::dual_buffer) {
    plan.cpu_buffer = usual_cpu_buffer;
    plan.device_buffer = usual_device_buffer;
    plan.look_ahead = 0;
  }
  return plan;
}

std::size_t preferred(const std::vector<Candidate>& candidates, const plan::Cores& cores,
                      std::optional<double> measured_error) {
  const auto epoch_s = [&](const Candidate& candidate) { return candidate.prediction.epoch_s; };
  const double fastest_s = epoch_s(
      *std::min_element(candidates.begin(), candidates.end(),
                        [&](const Candidate& a, const Candidate& b) { return epoch_s(a) < epoch_s(b); }));
  const auto rank = [&](const Candidate& candidate) {
    const bool is_fast = epoch_s(candidate) <= fastest_s * (1 + same_epoch(cores, measured_error));
    return std::tuple(!is_fast, is_fast ? threads_without_core(candidate.plan, cores) : 0,
                      is_fast ? beyond_usual_buffers(candidate.plan) : 0, epoch_s(candidate));
  };
  const auto best =
      std::min_element(candidates.begin(), candidates.end(),
                       [&](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); });
  return static_cast<std::size_t>(best - candidates.begin());
}

}  // namespace gnomon::tuner
