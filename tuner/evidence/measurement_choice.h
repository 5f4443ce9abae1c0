#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document.h"
#include "plan/plan.h"
#include "profiles/measurement.h"
#include "profiles/profile.h"
#include "tuner/evidence/regret.h"
#include "tuner/tuning.h"

namespace gnomon::tuner {

/// The order in which measurements are taken.
enum class MeasureOrder : std::uint8_t {
  value,   ///< those first that are expected to improve the choice of a plan most per second
  random,  ///< at random, for comparison
};

/// Chooses measurements for profiles::measure() by their value for the choice of a plan: those of a round
/// that are expected to lower the regret (RegretModel) by at least a part of what the best one lowers it by,
/// per second. It ends when the expected regret is at most `tolerance` of an epoch, or when no measurement is
/// expected to lower it any more.
class MeasurementChoice {
 public:
  MeasurementChoice(TuningOptions options, double tolerance, MeasureOrder order = MeasureOrder::value)
      : options_(std::move(options)), tolerance_(tolerance), order_(order) {}

  std::vector<std::size_t> operator()(const profiles::Profile& profile,
                                      std::span<const profiles::Measurement> measurements,
                                      double seconds_left);

  /// Of the last choice: what is expected of choosing a plan by the profile, over an epoch.
  double relative_regret() const { return relative_regret_; }

 private:
  std::vector<std::size_t> by_value(const profiles::Profile& profile,
                                    std::span<const profiles::Measurement> measurements, double seconds_left);
  std::vector<std::size_t> at_random(std::span<const profiles::Measurement> measurements) const;

  TuningOptions options_;
  double tolerance_;
  MeasureOrder order_;
  std::vector<plan::Plan> contenders_;
  int rounds_ = 0;
  double relative_regret_ = 1;
};

/// The beliefs that a measurement informs, and what it leaves of their standard deviations if it is taken
/// once more.
std::vector<Informed> informed_by(const profiles::Measurement& measurement, const profiles::Profile& profile);

}  // namespace gnomon::tuner

namespace gnomon::base {
template <>
struct EnumNames<tuner::MeasureOrder> {
  static constexpr std::array<std::pair<tuner::MeasureOrder, std::string_view>, 2> values{
      {{tuner::MeasureOrder::value, "value"}, {tuner::MeasureOrder::random, "random"}}};
};
}  // namespace gnomon::base
