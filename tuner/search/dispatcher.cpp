#include "tuner/search/dispatcher.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "sim/costs/model.h"

namespace gnomon::tuner {
namespace {

using plan::Plan;
using sim::StageCosts;

/// The buffers that plans may have (plan/plan.h).
constexpr std::int64_t max_buffer = 4096;

/// The next step of the CPU buffer, given a prediction.
enum class Verdict { balanced, shrink, grow };

Plan device_only(const Plan& morphgl) {
  Plan plan = morphgl;
  plan.schedule = plan::Schedule::sequential;
  plan.route = plan::Route::device;
  plan.order = plan::Order::index;
  plan.workers = 0;
  return plan;
}

Plan pipeline(const Plan& morphgl) {
  Plan plan = morphgl;
  plan.schedule = plan::Schedule::pipelined;
  plan.route = plan::Route::cpu;
  return plan;
}

/// The time of CPU preparation divided by the effective number of workers.
double cpu_batch_s(const StageCosts& costs, int workers) { return costs.cpu_batch_s / std::max(1, workers); }

Verdict judge(const sim::Prediction& prediction, int cpu_buffer, double device_batch_s) {
  // Each overlap flushes a full CPU buffer, so this is about their number.
  const double overlaps = std::max(1.0, static_cast<double>(prediction.cpu_batches) / cpu_buffer);
  const double on_cpu_s = prediction.blocked_on_cpu_s / overlaps;
  const double on_device_s = prediction.blocked_on_device_s / overlaps;
  if (std::max(on_cpu_s, on_device_s) < device_batch_s) {
    return Verdict::balanced;
  }
  return on_cpu_s >= on_device_s ? Verdict::shrink : Verdict::grow;
}

class FeedbackLoop {
 public:
  FeedbackLoop(const profiles::Profile& profile, const Plan& morphgl, const Evaluate& evaluate)
      : profile_(profile), morphgl_(morphgl), evaluate_(evaluate) {
    morphgl_ = plan::resolve(morphgl, {profile.machine.cpu.cores, profile.machine.device.kind}, morphgl.name);
    max_cpu_buffer_ = static_cast<int>(std::clamp<std::int64_t>(profile.workload.batches, 1, max_buffer));
    costs_ = sim::machine_model(profile, morphgl_, false, 0).costs;
  }

  DispatcherResult run() {
    const double cpu_s = cpu_batch_s(costs_, morphgl_.workers);
    result_.first_ratio = first_ratio(cpu_s, costs_.device_batch_s, costs_.transfer_s, costs_.train_s);
    if (costs_.train_s > std::max(cpu_s, costs_.transfer_s) || result_.first_ratio == 0) {
      return stop("pipeline", pipeline(morphgl_));
    }
    const double cpu_buffer = std::floor(morphgl_.device_buffer / result_.first_ratio);
    return feed_back(static_cast<int>(std::clamp<double>(cpu_buffer, 1, max_cpu_buffer_)));
  }

 private:
  DispatcherResult stop(const char* reason, Candidate best) {
    result_.stopped_by = reason;
    result_.best = std::move(best);
    return std::move(result_);
  }
  DispatcherResult stop(const char* reason, const Plan& plan) {
    return stop(reason, {plan, evaluate_(plan)});
  }

  DispatcherResult feed_back(int cpu_buffer) {
    while (true) {
      if (seen_.contains(cpu_buffer)) {
        return stop("repeated", fastest_seen());
      }
      const Candidate& candidate = simulate(cpu_buffer);
      const Verdict verdict = judge(candidate.prediction, cpu_buffer, costs_.device_batch_s);
      if (verdict == Verdict::balanced) {
        return stop("balanced", candidate);
      }
      if (verdict == Verdict::shrink && cpu_buffer == 1) {
        return stop("device only", device_only(morphgl_));
      }
      if (verdict == Verdict::grow && cpu_buffer == max_cpu_buffer_) {
        return stop("repeated", fastest_seen());
      }
      cpu_buffer += verdict == Verdict::shrink ? -1 : 1;
    }
  }

  const Candidate& simulate(int cpu_buffer) {
    Plan plan = morphgl_;
    plan.cpu_buffer = cpu_buffer;
    ++result_.rounds;
    return seen_[cpu_buffer] = {plan, evaluate_(plan)};
  }

  Candidate fastest_seen() const {
    const auto slower = [](const auto& a, const auto& b) {
      return a.second.prediction.epoch_s < b.second.prediction.epoch_s;
    };
    return std::min_element(seen_.begin(), seen_.end(), slower)->second;
  }

  const profiles::Profile& profile_;
  Plan morphgl_;
  const Evaluate& evaluate_;
  StageCosts costs_;
  int max_cpu_buffer_ = 1;
  DispatcherResult result_;
  std::map<int, Candidate> seen_;  ///< by the CPU's buffer
};

}  // namespace

double first_ratio(double cpu_batch_s, double device_batch_s, double transfer_s, double train_s) {
  const auto cost = [&](double x) {
    const double pipelined_s = std::max({transfer_s, (1 + x) * train_s, cpu_batch_s - x * device_batch_s});
    return (x * device_batch_s + pipelined_s) / (1 + x);
  };
  // Between the breakpoints of the maximum, the cost is (a + b x) / (1 + x), whose minimum is at an end.
  const double changes[] = {transfer_s / train_s - 1, (cpu_batch_s - transfer_s) / device_batch_s,
                            (cpu_batch_s - train_s) / (train_s + device_batch_s)};
  double best = 0;
  for (const double x : changes) {
    if (x > 0 && std::isfinite(x) && cost(x) < cost(best)) {
      best = x;
    }
  }
  const double without_cpu = device_batch_s + train_s;
  return without_cpu <= cost(best) ? std::numeric_limits<double>::infinity() : best;
}

int dispatcher_step(const sim::Prediction& prediction, int cpu_buffer, double device_batch_s) {
  switch (judge(prediction, cpu_buffer, device_batch_s)) {
    case Verdict::shrink:
      return -1;
    case Verdict::grow:
      return 1;
    case Verdict::balanced:
      break;
  }
  return 0;
}

DispatcherResult dispatch(const profiles::Profile& profile, const Plan& morphgl, const Evaluate& evaluate) {
  return FeedbackLoop(profile, morphgl, evaluate).run();
}

}  // namespace gnomon::tuner
