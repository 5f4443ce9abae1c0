#include "profiles/measure/evidence.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/median.h"
#include "profiles/beliefs.h"
#include "profiles/measurement.h"

namespace gnomon::profiles {
namespace {

/// Samples of quantities, by name.
using Samples = std::map<std::string, std::vector<double>>;

void add_points(Samples& samples, const char* name, const std::map<int, Ratio>& ratios) {
  for (const auto& [threads, ratio] : ratios) {
    samples[point_name(name, threads)] = ratio.values();
  }
}

Samples ratios_of(const Measured& measured) {
  Samples samples{{"fused_train_ratio", measured.fused_train.values()},
                  {"structure_transfer_ratio", measured.structure_transfer.values()},
                  {"graphs_train_ratio", measured.graphs_train.values()},
                  {"prepare_share_ratio", measured.prepare_share.values()},
                  {"cpu_batch_beside_train", measured.cpu_batch_beside_train.values()},
                  {"train_beside_cpu_batch", measured.train_beside_cpu_batch.values()},
                  {"cpu_batch_beside_device_batch", measured.cpu_batch_beside_device_batch.values()},
                  {"device_batch_beside_cpu_batch", measured.device_batch_beside_cpu_batch.values()},
                  {"transfer_beside_train", measured.transfer_beside_train.values()},
                  {"train_beside_transfer", measured.train_beside_transfer.values()},
                  {"cpu_batch_beside_transfer", measured.cpu_batch_beside_transfer.values()},
                  {"transfer_beside_cpu_batch", measured.transfer_beside_cpu_batch.values()},
                  {"device_batch_beside_train", measured.device_batch_beside_train.values()},
                  {"train_beside_device_batch", measured.train_beside_device_batch.values()},
                  {"transfer_beside_workers", measured.transfer_beside_workers.values()},
                  {"train_beside_workers", measured.train_beside_workers.values()},
                  {"device_batch_beside_workers", measured.device_batch_beside_workers.values()},
                  {"workers_beside_device", measured.workers_beside_device.values()},
                  {"train_beside_train", measured.train_beside_train.values()},
                  {"device_batch_beside_device_batch", measured.device_batch_beside_device_batch.values()},
                  {"crowded_team", measured.team_beside_cpu_batch.values()},
                  {"beside_crowded_team", measured.cpu_batch_beside_team.values()}};
  add_points(samples, "worker_efficiency", measured.worker_efficiency);
  add_points(samples, "cpu_batch_speedup", measured.cpu_batch_speedup);
  add_points(samples, "cpu_sample_speedup", measured.cpu_sample_speedup);
  add_points(samples, "train_speedup", measured.train_speedup);
  add_points(samples, "device_batch_speedup", measured.device_batch_speedup);
  return samples;
}

Samples times_of(const Measured& measured) {
  using schedule::Stage;
  return {{"cpu_batch", measured.of(Stage::cpu_batch).samples()},
          {"transfer", measured.of(Stage::transfer).samples()},
          {"device_batch", measured.of(Stage::device_batch).samples()},
          {"train", measured.of(Stage::train).samples()},
          {"cpu_sample_s", measured.cpu_sample.samples()},
          {"device_sample_s", measured.device_sample.samples()}};
}

/// Standard deviation of the logarithms of positive samples around that of their median, with the usual one
/// of a round as three more observations; with few samples wider, as bursts of other work are rare and large.
double log_deviation(const std::vector<double>& samples) {
  constexpr double usual_samples = 3;
  const double median = base::median(samples);
  double squares = usual_samples * round_deviation * round_deviation;
  for (const double sample : samples) {
    // A burst counts as a deviation of a third: the median leaves it out.
    constexpr double largest = 0.33;
    squares += std::pow(std::clamp(std::log(std::max(1e-9, sample) / median), -largest, largest), 2);
  }
  const auto count = static_cast<double>(samples.size());
  return std::sqrt(squares / (usual_samples + count - 1) * (1 + 2 / count));
}

/// Variance of a median over that of a mean, of normal samples.
constexpr double median_variance = 1.57;

/// Successive times of a stage are correlated.
constexpr double samples_of_one = 2;

/// The belief of a quantity after samples: the median of its logarithm and its standard deviation.
struct Updated {
  double log = 0;
  double deviation = 0;
};

Updated updated(double log_before, double deviation_before, double log_value, double deviation,
                double count) {
  const double before = 1 / std::pow(deviation_before, 2);
  const double after = count / (median_variance * std::pow(deviation, 2));
  return {(before * log_before + after * log_value) / (before + after), 1 / std::sqrt(before + after)};
}

}  // namespace

void set_beliefs(Profile& profile, const Measured& measured) {
  const auto ratios = ratios_of(measured);
  const auto times = times_of(measured);
  profile.beliefs.clear();
  for (const Quantity& quantity : quantities_of(profile)) {
    const bool is_known = quantity.is_known(profile);
    double& value = quantity.of(profile);  // inserts what is believed
    const auto time = times.find(quantity.name);
    const auto ratio = ratios.find(quantity.name);
    if (is_known && time != times.end() && !time->second.empty()) {
      const auto count = static_cast<double>(time->second.size()) / samples_of_one;
      const auto after = updated(0, quantity.deviation, 0, log_deviation(time->second), count);
      profile.beliefs.push_back({quantity.name, after.deviation, std::ssize(time->second)});
    } else if (is_known && ratio != ratios.end() && !ratio->second.empty()) {
      const auto after = updated(std::log(quantity.median), quantity.deviation, std::log(value),
                                 log_deviation(ratio->second), static_cast<double>(ratio->second.size()));
      value = std::exp(after.log);
      profile.beliefs.push_back({quantity.name, after.deviation, std::ssize(ratio->second)});
    } else if (!is_known) {
      profile.beliefs.push_back({quantity.name, quantity.deviation, 0});
    }
  }
}

}  // namespace gnomon::profiles
