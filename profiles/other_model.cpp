#include "profiles/other_model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/normal.h"
#include "profiles/scale_times.h"
#include "profiles/speed_ratio.h"
#include "profiles/stage_work.h"

namespace gnomon::profiles {
namespace {

/// By which power of a step's time the part grows that more threads do not shorten: fitted to the nine models
/// on three graphs of bench/results/other_models.json.
constexpr double serial_growth = 0.4;

constexpr std::array model_fields{"model", "hidden", "heads", "dropout", "matmul_precision"};

/// The profile's workload with another job, counted anew: what it holds may be of an earlier version's rules.
WorkloadProfile counted(const WorkloadProfile& workload, const plan::Job& job) {
  auto other = workload;
  other.job = job;
  other.work.reset();
  return other;
}

/// What training takes by counts and the machine's speeds.
double counted_s(const WorkloadProfile& workload, const Executor& machine, const std::string& where) {
  double seconds = 0;
  for (const Amount& amount : training_work(workload)) {
    const auto own = machine.is_gpu ? on_gpu(amount) : std::optional(amount);
    const auto rate = own ? rate_at(machine.speeds, own->work, own->size) : std::nullopt;
    if (!rate) {
      throw base::InputError(where, "the machine's speeds have none of " +
                                        std::string(base::name_of((own ? *own : amount).work)) +
                                        ", which this model needs");
    }
    seconds += own->count / rate->per_s;
  }
  return seconds;
}

/// What several threads do for steps that take `factor` times as long: what more threads do not shorten, such
/// as calls of operations, grows less than what they do.
void move_speedup(std::vector<ScalingPoint>& points, double factor) {
  for (ScalingPoint& point : points) {
    if (point.threads > 1) {
      const double threads = point.threads;
      const double serial = std::clamp((threads / point.value - 1) / (threads - 1), 0.0, 1.0);
      const double other_serial = std::min(1.0, serial * std::pow(factor, serial_growth - 1));
      point.value = 1 / (other_serial + (1 - other_serial) / threads);
    }
  }
}

}  // namespace

bool is_of_model(const std::string& field) {
  return std::find(model_fields.begin(), model_fields.end(), field) != model_fields.end();
}

Profile with_model(Profile profile, const plan::Job& job, const std::string& where) {
  auto& workload = profile.workload;
  if (!profile.machine_speeds) {
    throw base::InputError(
        where,
        "needs the machine's speeds: write them with gnomon machine -o FILE, and measure the "
        "profile with gnomon profile --machine FILE");
  }
  const Executor machine{*profile.machine_speeds, !plan::runs_on_cores(profile.machine.device.kind)};
  const auto before = counted(workload, workload.job);
  const auto after = counted(workload, job);
  const double factor = counted_s(after, machine, where) / counted_s(before, machine, where);
  scale(workload.train, factor);
  workload.train.interval_s = std::hypot(
      workload.train.interval_s, base::normal_half_width * other_model_deviation * workload.train.mean_s);
  move_speedup(workload.train_speedup, factor);
  scale(workload.parts.refresh_s, factor);
  const double weights = weight_elements(after) / weight_elements(before);
  scale(workload.parts.update_s, weights);
  scale(workload.parts.average_s, weights);
  scale(workload.parts.parameter_bytes, weights);
  scale(workload.parts.activation_bytes, activation_elements(after) / activation_elements(before));
  if (workload.evaluation) {
    const auto columns = static_cast<double>(workload.feature_columns);
    workload.evaluation->time_s.reset();
    workload.evaluation->host_bytes *= (columns + job.hidden) / (columns + workload.job.hidden);
  }
  workload.job = job;
  if (workload.work) {
    workload.work->training = training_work(after);
  }
  return profile;
}

}  // namespace gnomon::profiles
