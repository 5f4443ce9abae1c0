#include "tuner/evidence/measurement_choice.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/philox.h"
#include "tuner/evidence/contenders.h"
#include "tuner/evidence/regret.h"

namespace gnomon::tuner {
namespace {

/// Measurements of a round have at least this part of the best one's value per second: a round that measures
/// one thing takes as long for the stages alone as one that measures several.
constexpr double least_value = 0.2;

/// The contenders are searched for anew in rounds 1, 4, 16 …
bool changes_contenders(int round) {
  const auto number = static_cast<unsigned>(round);
  return std::has_single_bit(number) && std::countr_zero(number) % 2 == 0;
}

}  // namespace

std::vector<Informed> informed_by(const profiles::Measurement& measurement,
                                  const profiles::Profile& profile) {
  std::vector<Informed> informed;
  for (std::size_t i = 0; i < profile.beliefs.size(); ++i) {
    const auto& belief = profile.beliefs[i];
    if (std::ranges::find(measurement.informs, belief.of) != measurement.informs.end()) {
      informed.push_back({i, 1 / std::hypot(1.0, belief.deviation / profiles::round_deviation)});
    }
  }
  return informed;
}

std::vector<std::size_t> MeasurementChoice::operator()(const profiles::Profile& profile,
                                                       std::span<const profiles::Measurement> measurements,
                                                       double seconds_left) {
  ++rounds_;
  return order_ == MeasureOrder::random ? at_random(measurements)
                                        : by_value(profile, measurements, seconds_left);
}

std::vector<std::size_t> MeasurementChoice::by_value(const profiles::Profile& profile,
                                                     std::span<const profiles::Measurement> measurements,
                                                     double seconds_left) {
  if (changes_contenders(rounds_)) {
    contenders_ = contenders(profile, options_);
  }
  if (contenders_.empty()) {
    relative_regret_ = 0;  // there is nothing to choose
    return {};
  }
  const RegretModel model(effects_of(profile, contenders_));
  relative_regret_ = model.relative_regret();
  if (relative_regret_ <= tolerance_) {
    return {};
  }
  std::vector<double> values(measurements.size());
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    const auto& measurement = measurements[i];
    const double seconds = std::max(1e-6, measurement.seconds);
    values[i] = seconds > seconds_left ? 0 : model.value_s(informed_by(measurement, profile)) / seconds;
  }
  const double best = *std::ranges::max_element(values);
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < values.size() && best > 0; ++i) {
    if (values[i] >= least_value * best) {
      chosen.push_back(i);
    }
  }
  return chosen;
}

/// Each measurement with the same probability as any other, one in two on average.
std::vector<std::size_t> MeasurementChoice::at_random(
    std::span<const profiles::Measurement> measurements) const {
  base::RandomStream random({.seed = options_.seed,
                             .purpose = base::Purpose::simulate,
                             .epoch = 5,
                             .batch = static_cast<std::uint64_t>(rounds_)});
  std::vector<std::size_t> chosen{0};
  for (std::size_t i = 1; i < measurements.size(); ++i) {
    if (random.uniform() < 0.5) {
      chosen.push_back(i);
    }
  }
  return chosen;
}

}  // namespace gnomon::tuner
