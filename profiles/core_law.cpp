#include "profiles/core_law.h"

#include <algorithm>
#include <cmath>

#include "profiles/speed_ratio.h"

namespace gnomon::profiles {
namespace {

/// Working sets up to this size stay in a core's own caches, or in its part of the shared one.
constexpr double cached_bytes = 4e6;
constexpr double slot_bytes = 16;  // of a hash table

/// Saturation of memory by threads, if nothing is measured: their bandwidth stays below ten times that of
/// one.
constexpr double assumed_saturation = 0.1;
/// Saturation of threads that have shown none.
constexpr double least_saturation = 0.02;
/// What a second hardware thread of a core adds at most.
constexpr double most_gain_of_sharing = 0.5;

/// Serial shares that are not counted, where no point says: barriers of a team, locks of workers.
constexpr double assumed_serial_of_team = 0.1;
constexpr double assumed_serial_of_workers = 0.02;

/// Saturation beyond points that show less, on a machine without speeds.
constexpr double unmeasured_saturation = 0.1;

/// Half width, over the speed-up, for each doubling of the threads: clock frequencies, shared caches.
constexpr double half_width_by_doubling = 0.1;

/// Threads on all cores that do less than this share of as many single threads' compute-bound work share
/// cores.
constexpr double share_of_sharing = 0.8;

bool is_serial(Work work) { return work == Work::operations || work == Work::launches; }

/// Orders of magnitude for one core, where the machine was not measured: by them kinds are weighed.
double nominal_rate(Work work) {
  switch (work) {
    case Work::dense_fp32:
      return 5e10;
    case Work::dense_bf16:
      return 1e11;
    case Work::random_lines:
      return 5e7;
    case Work::inserts:
      return 5e7;
    case Work::branches:
      return 2e8;
    case Work::operations:
    case Work::launches:
      return 2e5;
    default:
      return 1e10;  // bytes
  }
}

/// The most threads with which a kind was measured; 1 if none.
int most_threads(const MachineSpeeds& speeds, Work work) {
  int most = 1;
  for (const Speed& speed : speeds.speeds) {
    most = speed.work == work ? std::max(most, speed.threads) : most;
  }
  return most;
}

/// Gunther's law of contention, whose limit is 1 / saturation.
double saturating(double saturation, double threads) { return threads / (1 + saturation * (threads - 1)); }

/// By which factor the known bandwidth raises the limit; more cores do not lower it.
double bandwidth_growth(const CoreFacts& facts) { return std::max(1.0, facts.bandwidth_growth.value_or(1)); }

/// The gain of a kind that several threads have in the machine's speeds.
class MeasuredGain {
 public:
  MeasuredGain(const Amount& amount, const CoreFacts& facts, int most, double gain)
      : is_compute_bound_(is_compute_bound(amount)),
        facts_(facts),
        most_(most),
        // Probes of microseconds may be slower by waits for a member without a core.
        gain_(std::clamp(gain, 1.0, static_cast<double>(most))) {}

  SpeedupRange at(int threads) const {
    if (threads <= most_) {
      const double gain = within(threads);
      return {gain, gain};
    }
    const double growth = static_cast<double>(threads) / most_;
    if (is_compute_bound_) {
      return {gain_ * growth, gain_ * growth};
    }
    const double saturation = std::max((most_ / gain_ - 1) / (most_ - 1), least_saturation);
    const double stays = gain_ * saturating(saturation, threads) / saturating(saturation, most_);
    if (facts_.bandwidth_growth) {
      const double gain = std::clamp(saturating(saturation / bandwidth_growth(facts_), threads), stays,
                                     std::max(stays, gain_ * growth));
      return {gain, gain};
    }
    return {stays, gain_ * growth};
  }

 private:
  /// Threads first use cores of their own, if these are known, and then share them; else a power law.
  double within(int threads) const {
    if (!is_compute_bound_ || facts_.physical <= 1 || facts_.physical >= most_) {
      return std::pow(gain_, std::log(threads) / std::log(most_));
    }
    const double alone = std::min(gain_, static_cast<double>(facts_.physical));
    if (threads <= facts_.physical) {
      return 1 + (alone - 1) * (threads - 1) / (facts_.physical - 1);
    }
    return alone + (gain_ - alone) * (threads - facts_.physical) / (most_ - facts_.physical);
  }

  bool is_compute_bound_;
  const CoreFacts& facts_;
  int most_;
  double gain_;
};

/// The gain of a kind that was not measured with several threads, two of which may share a core.
SpeedupRange assumed_gain(bool is_compute_bound, const CoreFacts& facts, int threads) {
  const double all = threads;
  if (is_compute_bound) {
    const int here = std::min(threads, facts.measured);
    const int own = facts.physical > 0 ? std::min(facts.physical, here) : here;
    const double high = own + most_gain_of_sharing * (here - own);
    return {std::max(1.0, all / 2), high * all / here};
  }
  const double saturation =
      threads > facts.measured ? assumed_saturation / bandwidth_growth(facts) : assumed_saturation;
  return {std::max(1.0, std::min(all / 2, saturating(saturation, all))), all};
}

WorkTime work_time(const Amount& amount, const CoreFacts& facts, int threads) {
  WorkTime time;
  time.work = amount.work;
  time.count = amount.count;
  time.per_s = nominal_rate(amount.work);
  const auto alone =
      facts.speeds != nullptr ? rate_at(*facts.speeds, amount.work, amount.size) : std::nullopt;
  if (alone) {
    time.per_s = alone->per_s;
  }
  time.seconds = time.count / time.per_s;
  if (is_serial(amount.work)) {
    time.is_measured = alone.has_value();
    return time;
  }
  const int most = alone ? most_threads(*facts.speeds, amount.work) : 1;
  const auto together = most > 1 ? rate_at(*facts.speeds, amount.work, amount.size, most) : std::nullopt;
  time.is_measured = together.has_value();
  time.gain = together ? MeasuredGain(amount, facts, most, together->per_s / alone->per_s).at(threads)
                       : assumed_gain(is_compute_bound(amount), facts, threads);
  return time;
}

/// Amdahl's law for `serial` work beside work of a given speed-up.
double amdahl(double serial, double speedup) { return 1 / (serial + (1 - serial) / speedup); }

/// The serial share that a measured speed-up shows beside the one that the counts allow.
double uncounted_serial(double measured, double possible) {
  return possible > 1 ? std::clamp((1 / measured - 1 / possible) / (1 - 1 / possible), 0.0, 1.0) : 0;
}

/// The law of one stage beyond its last point.
class Continuation {
 public:
  /// `is_relative`: the last point stands for times on all cores, which were not compared with one.
  Continuation(std::span<const Amount> work, const CoreFacts& facts, const ScalingPoint& last,
               Together together, bool is_relative)
      : work_(work),
        facts_(facts),
        last_(last),
        together_(together),
        is_relative_(is_relative),
        is_calibrated_(last.threads > 1 && !is_relative),
        is_by_speeds_(is_by_speeds(work, facts)),
        speedup_(together == Together::workers ? last.value * last.threads : last.value),
        from_(speedup_range(work, facts, last.threads)),
        serial_(serial()) {}

  ScalingPoint at(int threads) const {
    const auto machine = speedup_range(work_, facts_, threads);
    const SpeedupRange own{
        speedup_ * amdahl(serial_, lower(machine, threads)) / amdahl(serial_, lower(from_, last_.threads)),
        speedup_ * machine.high / from_.high};
    const auto [low, high] = std::minmax(own.low, own.high);
    const bool of_workers = together_ == Together::workers;
    // Papers' figures show that more workers than those of the given times are about as fast each.
    const double centre = of_workers && is_relative_ ? high : std::sqrt(low * high);
    return {threads, of_workers ? centre / threads : centre, interval(centre / low, threads)};
  }

 private:
  /// The share of the lower belief that does not scale: what the speed-up falls short of what the counts
  /// allow, or an assumed one.
  double serial() const {
    if (!is_calibrated_) {
      return together_ == Together::team ? assumed_serial_of_team : assumed_serial_of_workers;
    }
    const double share = uncounted_serial(speedup_, from_.high);
    return is_by_speeds_ || from_.high <= 1 ? share : std::max(share, unmeasured_saturation);
  }

  /// What the lower belief lets scale. A speed-up that was measured shows how far the stage saturates a
  /// machine that was not.
  double lower(const SpeedupRange& machine, int threads) const {
    if (is_calibrated_ && !is_by_speeds_) {
      return machine.high;
    }
    return is_calibrated_ && threads > 1 ? from_.high * machine.low / from_.low : machine.low;
  }

  /// The half widths of the beliefs, of the last point and by the law, as of independent errors.
  double interval(double belief, int threads) const {
    const double counted = is_calibrated_ ? 0 : model_half_width * visit_deviation;
    const double more = half_width_by_doubling * std::log2(static_cast<double>(threads) / last_.threads);
    const double own = std::log1p(last_.interval.value_or(0));
    return std::expm1(std::hypot(std::hypot(std::log(belief), more), std::hypot(counted, own)));
  }

  std::span<const Amount> work_;
  const CoreFacts& facts_;
  const ScalingPoint& last_;
  Together together_;
  bool is_relative_;
  bool is_calibrated_;
  bool is_by_speeds_;
  double speedup_;
  SpeedupRange from_;
  double serial_;
};

/// So that linear interpolation between points is close to the law.
int next_threads(int threads) { return threads + std::max(1, threads / 4); }

}  // namespace

bool is_compute_bound(const Amount& amount) {
  switch (amount.work) {
    case Work::dense_fp32:
    case Work::dense_bf16:
    case Work::branches:
      return true;
    case Work::inserts:
      return amount.size * slot_bytes <= cached_bytes;
    case Work::copies:
    case Work::random_lines:
    case Work::page_rows:
    case Work::huge_page_rows:
      return amount.size <= cached_bytes;
    default:
      return false;
  }
}

std::vector<WorkTime> work_times(std::span<const Amount> work, const CoreFacts& facts, int threads) {
  std::vector<WorkTime> times;
  for (const Amount& amount : work) {
    if (amount.count > 0) {
      times.push_back(work_time(amount, facts, threads));
    }
  }
  return times;
}

SpeedupRange speedup_range(std::span<const Amount> work, const CoreFacts& facts, int threads) {
  double alone_s = 0;
  double most_s = 0;
  double least_s = 0;
  for (const WorkTime& time : work_times(work, facts, threads)) {
    alone_s += time.seconds;
    most_s += time.seconds / time.gain.low;
    least_s += time.seconds / time.gain.high;
  }
  if (alone_s <= 0) {
    return assumed_gain(false, facts, threads);
  }
  return {alone_s / most_s, alone_s / least_s};
}

bool is_by_speeds(std::span<const Amount> work, const CoreFacts& facts) {
  double all_s = 0;
  double measured_s = 0;
  for (const WorkTime& time : work_times(work, facts, 1)) {
    all_s += time.seconds;
    measured_s += time.is_measured ? time.seconds : 0;
  }
  return measured_s > 0 && measured_s >= all_s / 2;
}

bool shares_cores(const Cpu& cpu, const MachineSpeeds* speeds) {
  if (const int physical = physical_cores_of(cpu); physical > 0 && physical < cpu.cores) {
    return true;
  }
  std::vector<double> gains;  // of each kind, over as many threads, at the size with the largest gain
  for (const Work work : {Work::dense_fp32, Work::dense_bf16, Work::branches, Work::inserts}) {
    const int most = speeds != nullptr ? most_threads(*speeds, work) : 1;
    double best = 0;
    for (const Speed& speed : most > 1 ? speeds->speeds : std::vector<Speed>{}) {
      if (speed.work == work && speed.threads == most) {
        const double alone = rate_at(*speeds, work, speed.size.value_or(1))->per_s;
        best = std::max(best, speed.per_s / alone / most);
      }
    }
    if (best > 0) {
      gains.push_back(best);
    }
  }
  std::sort(gains.begin(), gains.end());
  return !gains.empty() && gains[(gains.size() - 1) / 2] < share_of_sharing;
}

std::vector<ScalingPoint> continued(std::vector<ScalingPoint> points, std::span<const Amount> work,
                                    const CoreFacts& facts, int threads, Together together) {
  const ScalingPoint last = points.empty() ? ScalingPoint{} : points.back();
  if (threads <= last.threads) {
    return points;
  }
  if (points.empty()) {
    points.push_back(last);
  }
  const bool is_relative = points.size() == 1 && last.threads > 1;
  const Continuation law(work, facts, last, together, is_relative);
  for (int t = next_threads(last.threads); t < threads; t = next_threads(t)) {
    points.push_back(law.at(t));
  }
  points.push_back(law.at(threads));
  return points;
}

}  // namespace gnomon::profiles
