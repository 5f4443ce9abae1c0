#include "tuner/verify/correction.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "sim/predict.h"

namespace gnomon::tuner {
namespace {

using profiles::Correction;
using schedule::Stage;
using schedule::StageSpan;

std::vector<double> seconds_of(const std::vector<StageSpan>& timeline, Stage stage) {
  std::vector<double> seconds;
  for (const StageSpan& span : timeline) {
    if (span.stage == stage) {
      seconds.push_back(span.seconds());
    }
  }
  return seconds;
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// One stage in one run: the time of each batch, and the predicted mean.
struct Compared {
  std::vector<double> measured_s;
  double predicted_s = 0;

  double all_predicted_s() const { return predicted_s * static_cast<double>(measured_s.size()); }
};

/// The ratio of measured to predicted time over all runs, and its standard error.
std::optional<Correction> quotient_of(const std::vector<Compared>& runs) {
  double measured_s = 0;
  double predicted_s = 0;
  Correction quotient;
  for (const Compared& run : runs) {
    measured_s += sum(run.measured_s);
    predicted_s += run.all_predicted_s();
    quotient.batches += std::ssize(run.measured_s);
  }
  if (quotient.batches < 2 || predicted_s <= 0 || measured_s <= 0) {
    return std::nullopt;
  }
  quotient.ratio = measured_s / predicted_s;
  double by_batches = 0;
  double by_runs = 0;
  for (const Compared& run : runs) {
    for (const double batch_s : run.measured_s) {
      by_batches += std::pow(batch_s - quotient.ratio * run.predicted_s, 2);
    }
    by_runs += std::pow(sum(run.measured_s) - quotient.ratio * run.all_predicted_s(), 2);
  }
  const auto scaled = [](double squares, double count) {
    return count > 1 ? squares * count / (count - 1) : 0;
  };
  quotient.standard_error = std::sqrt(std::max(scaled(by_batches, static_cast<double>(quotient.batches)),
                                               scaled(by_runs, static_cast<double>(runs.size())))) /
                            predicted_s;
  return quotient;
}

/// Each stage in each run that had it.
using AllCompared = std::array<std::vector<Compared>, corrected_stages.size()>;

/// The predicted mean of each stage; none of stages that the run does not have.
using StageMeans = std::array<std::optional<double>, corrected_stages.size()>;

StageMeans predicted_means(const RealRun& run, const profiles::Profile& profile, sim::Simulator& simulator) {
  profiles::Profile here = profile;
  here.workload.batches = run.batches;
  const auto timeline = sim::predict(simulator, here, run.plan, true).timeline;
  StageMeans means;
  for (std::size_t s = 0; s < corrected_stages.size(); ++s) {
    const auto seconds = seconds_of(timeline, corrected_stages[s].stage);
    if (!seconds.empty()) {
      means[s] = sum(seconds) / static_cast<double>(seconds.size());
    }
  }
  return means;
}

/// Runs of one plan and length are simulated once.
AllCompared compare(const std::vector<RealRun>& runs, const profiles::Profile& profile,
                    sim::Simulator& simulator) {
  AllCompared compared;
  std::vector<StageMeans> means;
  for (const RealRun& run : runs) {
    const auto same = std::find_if(runs.begin(), runs.end(), [&](const RealRun& earlier) {
      return earlier.batches == run.batches && earlier.plan == run.plan;
    });
    const auto earlier = static_cast<std::size_t>(same - runs.begin());
    means.push_back(earlier < means.size() ? means[earlier] : predicted_means(run, profile, simulator));
    for (std::size_t s = 0; s < corrected_stages.size(); ++s) {
      auto measured_s = seconds_of(run.timeline, corrected_stages[s].stage);
      if (!measured_s.empty() && means.back()[s]) {
        compared[s].push_back({std::move(measured_s), *means.back()[s]});
      }
    }
  }
  return compared;
}

/// Removes corrections that are unknown because runs contradict each other, and factors outside the
/// documents' range: such stages were disturbed when they were measured.
void forget_uncertain(profiles::Corrections& corrections) {
  constexpr double max_ratio = 100;
  for (const auto& corrected : corrected_stages) {
    auto& correction = corrections.*corrected.correction;
    if (correction && (correction->standard_error >= correction->ratio || correction->ratio > max_ratio ||
                       correction->ratio < 1 / max_ratio)) {
      correction.reset();
    }
  }
}

}  // namespace

profiles::Corrections corrections_by(const std::vector<RealRun>& runs, const profiles::Profile& profile,
                                     sim::Simulator& simulator) {
  constexpr int max_rounds = 20;
  constexpr double enough = 1e-3;
  auto corrected = profile;
  corrected.corrections = profiles::Corrections{};
  for (int round = 0; round < max_rounds; ++round) {
    const auto compared = compare(runs, corrected, simulator);
    double rest = 0;
    for (std::size_t s = 0; s < corrected_stages.size(); ++s) {
      auto& correction = (*corrected.corrections).*corrected_stages[s].correction;
      const double before = profiles::ratio_of(correction);
      if (auto more = quotient_of(compared[s])) {
        rest = std::max(rest, std::abs(more->ratio - 1));
        more->ratio *= before;
        more->standard_error *= before;
        correction = more;
      }
    }
    if (rest < enough) {
      break;
    }
  }
  forget_uncertain(*corrected.corrections);
  return *corrected.corrections;
}

}  // namespace gnomon::tuner
