#include "tuner/explore/explanation.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <string_view>

#include "profiles/scaling.h"
#include "profiles/stage_work.h"
#include "sim/costs/costs.h"
#include "tuner/verify/correction.h"

namespace gnomon::tuner {
namespace {

using profiles::Amount;
using profiles::Scaled;
using profiles::ScalingPoint;
using profiles::WorkTime;

#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
std::string
print(const char* format, ...) {
  char text[256];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

std::string milliseconds(double seconds) { return print("%.3g ms", 1e3 * seconds); }

/// A stage that a plan uses.
struct Stage {
  const char* name;
  double measured_s;
  std::vector<Amount> work;
  Scaled list;
  int threads;  ///< 0 on a GPU
};

std::vector<Stage> stages_of(const profiles::WorkloadProfile& workload, const plan::Plan& plan,
                             bool on_cores) {
  std::vector<Stage> stages;
  if (plan.uses_workers()) {
    stages.push_back({"cpu_batch", workload.cpu_batch.mean_s, profiles::work_of(workload, Scaled::workers),
                      Scaled::workers, plan.workers * plan.worker_threads});
  }
  const int threads = on_cores ? plan.device_threads : 0;
  if (plan.uses_device_route()) {
    stages.push_back({"device_batch", workload.device_batch.mean_s,
                      profiles::work_of(workload, Scaled::preparing), Scaled::preparing, threads});
  }
  stages.push_back({"train", workload.train.mean_s, profiles::work_of(workload, Scaled::training),
                    Scaled::training, threads});
  return stages;
}

/// The amounts as the executor of a stage counts them; on a GPU without what it has no kind for.
std::vector<Amount> on_executor(std::vector<Amount> work, bool on_gpu) {
  if (!on_gpu) {
    return work;
  }
  std::vector<Amount> own;
  for (const Amount& amount : work) {
    if (const auto there = profiles::on_gpu(amount)) {
      own.push_back(*there);
    }
  }
  return own;
}

/// The sum over sizes of each kind, the longest first.
std::vector<WorkTime> by_kind(const std::vector<WorkTime>& times) {
  std::map<profiles::Work, WorkTime> sums;
  for (const WorkTime& time : times) {
    auto& sum = sums.emplace(time.work, WorkTime{}).first->second;
    sum.work = time.work;
    sum.count += time.count;
    sum.seconds += time.seconds;
  }
  std::vector<WorkTime> kinds;
  for (auto& [work, sum] : sums) {
    sum.per_s = sum.count / sum.seconds;
    kinds.push_back(sum);
  }
  std::ranges::stable_sort(kinds, {}, [](const WorkTime& time) { return -time.seconds; });
  return kinds;
}

std::string counts_line(const Stage& stage, const std::vector<WorkTime>& times, bool has_speeds) {
  std::string text;
  double counted_s = 0;
  for (const WorkTime& kind : by_kind(times)) {
    const std::string unit(profiles::unit_of(kind.work));
    text += (text.empty() ? "" : ", ") + std::string(base::name_of(kind.work)) +
            print(" %.3g %s / %.3g %s = %s", kind.count, unit.substr(0, unit.size() - 2).c_str(), kind.per_s,
                  unit.c_str(), milliseconds(kind.seconds).c_str());
    counted_s += kind.seconds;
  }
  return print("%s, counts over %s: ", stage.name, has_speeds ? "measured speeds" : "nominal speeds") + text +
         " (" + milliseconds(counted_s) + "); measured " + milliseconds(stage.measured_s);
}

/// The half width at a number of threads: that of the next point.
double interval_at(const std::vector<ScalingPoint>& points, int threads) {
  for (const ScalingPoint& point : points) {
    if (point.threads >= threads) {
      return threads > 1 ? point.interval.value_or(0) : 0;
    }
  }
  return 0;
}

std::string speedup_line(const Stage& stage, const profiles::Extended& profile,
                         const std::vector<ScalingPoint>& points, const profiles::CoreFacts& facts) {
  const auto& extension = profile.of(stage.list);
  const bool of_workers = stage.list == Scaled::workers;
  const double value = of_workers ? stage.threads * profiles::worker_efficiency_at(points, stage.threads)
                                  : profiles::speedup_at(points, stage.threads);
  auto text = print("%s, speed-up: %d %s x%.3g", stage.name, stage.threads,
                    of_workers ? "workers" : "threads", value);
  const double interval = interval_at(points, stage.threads);
  if (interval > 0) {
    text += print(" (x%.3g to x%.3g)", value / (1 + interval), value * (1 + interval));
  }
  if (stage.threads == 1 || points.empty()) {
    return "";  // without points the time is that on all cores
  }
  const int from = extension.continued_from;
  if (stage.threads <= from || extension.law.empty()) {
    return text + (stage.threads > extension.measured && !extension.law.empty() ? ", " + extension.law
                   : interval > 0                                               ? ", moved to this machine"
                                                                                : ", measured");
  }
  const double last =
      of_workers ? from * profiles::worker_efficiency_at(points, from) : profiles::speedup_at(points, from);
  const auto before = profiles::speedup_range(stage.work, facts, from);
  const auto after = profiles::speedup_range(stage.work, facts, stage.threads);
  return text +
         print(": x%.3g on %d, times the counts' x%.3g to x%.3g over x%.3g to x%.3g; ", last, from, after.low,
               after.high, before.low, before.high) +
         extension.law;
}

std::string stages_line(const sim::StageCosts& costs, const plan::Plan& plan) {
  const bool copies = plan.uses_cpu_route();
  std::string text;
  for (const auto& [name, seconds] :
       {std::pair("cpu_batch", plan.uses_workers() ? costs.cpu_batch_s : 0),
        std::pair("transfer", copies ? costs.transfer_s : 0),
        std::pair("device_batch", plan.uses_device_route() ? costs.device_batch_s : 0),
        std::pair("train", costs.train_s), std::pair("group_prepare", costs.group_prepare_s),
        std::pair("group_transfer", costs.group_transfer_s), std::pair("group_read", costs.group_read_s)}) {
    text += seconds > 0 ? (text.empty() ? "" : ", ") + std::string(name) + " " + milliseconds(seconds) : "";
  }
  return "stages with this plan: " + text;
}

/// What earlier runs taught of the plan's stages; empty without corrections.
std::string learned_line(const profiles::Profile& profile, const plan::Plan& plan) {
  const auto* const learned =
      profile.learned ? profile.learned->of(plan::regime_of(plan, profiles::cores_of(profile))) : nullptr;
  std::string text;
  for (const auto& [stage, correction] : corrected_stages) {
    if (const auto ratio = learned != nullptr ? learned->*correction : std::nullopt) {
      text += print("%s%s x%.3g +- %.2g", text.empty() ? "" : ", ",
                    std::string(schedule::name_of(stage)).c_str(), ratio->ratio, ratio->standard_error);
    }
  }
  return text.empty() ? "" : "corrected by earlier runs: " + text;
}

}  // namespace

std::vector<std::string> explanation(const profiles::Extended& profile, const profiles::MeasuredOn& measured,
                                     const plan::Plan& plan, const sim::Prediction& prediction) {
  const auto& workload = profile.profile.workload;
  const bool on_cores = plan::runs_on_cores(profile.profile.machine.device.kind);
  const auto facts = profiles::core_facts(profile.profile, measured);
  std::vector<std::string> lines;
  for (const Stage& stage : stages_of(workload, plan, on_cores)) {
    const bool on_gpu = stage.threads == 0;
    const auto times = profiles::work_times(on_executor(stage.work, on_gpu), facts, 1);
    if (!times.empty() && (!on_gpu || facts.speeds != nullptr)) {
      lines.push_back(counts_line(stage, times, facts.speeds != nullptr));
    } else {
      lines.push_back(std::string(stage.name) + ": measured " + milliseconds(stage.measured_s));
    }
    const auto speedup =
        on_gpu ? "" : speedup_line(stage, profile, workload.*profiles::points_of(stage.list), facts);
    if (!speedup.empty()) {
      lines.push_back(speedup);
    }
  }
  if (const auto learned = learned_line(profile.profile, plan); !learned.empty()) {
    lines.push_back(learned);
  }
  lines.push_back(stages_line(sim::costs_of_plan(profile.profile, plan).costs, plan));
  lines.push_back(print("epoch: %lld mini-batches, at least %.4g s, predicted %.4g s, bound by ",
                        static_cast<long long>(sim::batches_of(workload, plan)), prediction.lower_bound_s,
                        prediction.epoch_s) +
                  prediction.bound_by);
  return lines;
}

}  // namespace gnomon::tuner
