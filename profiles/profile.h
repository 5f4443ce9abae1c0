#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"
#include "base/other_load.h"
#include "plan/plan.h"
#include "profiles/beliefs.h"
#include "profiles/corrections.h"
#include "profiles/learned_corrections.h"
#include "profiles/machine_profile.h"
#include "profiles/speeds.h"
#include "profiles/workload_profile.h"

namespace gnomon::profiles {

/// The profile document, written by `gnomon profile` and read by all predictions.
struct Profile {
  static constexpr std::string_view schema = "gnomon.profile/1";
  MachineProfile machine;
  WorkloadProfile workload;
  double asked_interval = 0.02;  ///< asked half width of the confidence intervals, relative to the mean
  double time_limit_s = 0;
  /// "interval" (all are as precise as asked), "regret" (more precision would hardly change the choice of a
  /// plan) or "time_limit"
  std::string stopped_by;
  std::optional<base::OtherLoad> other_load{};  ///< load by others during the measurement; none if unknown
  std::optional<Corrections> corrections{};     ///< factors of the simulated stage times
  std::optional<LearnedCorrections> learned{};  ///< factors of them by earlier runs on this machine
  std::optional<double> prediction_error{};  ///< relative standard error of predicted epochs, from real runs
  /// Of the machine, apart from this job, by which the profile can be moved to another; none in documents of
  /// earlier versions and where no document of the machine was at hand.
  std::optional<MachineSpeeds> machine_speeds{};
  /// Of the numbers that few or no samples were taken of; those that are not named are as precise as their
  /// stage's time.
  std::vector<Belief> beliefs{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("machine", self.machine);
    f.required("workload", self.workload);
    f("asked_interval", self.asked_interval, base::Range{0, 1});
    f("time_limit_s", self.time_limit_s, base::non_negative);
    f("stopped_by", self.stopped_by);
    f("other_load", self.other_load);
    f("corrections", self.corrections);
    f("learned", self.learned);
    f("prediction_error", self.prediction_error, base::Range{0, 10});
    f("machine_speeds", self.machine_speeds);
    f("beliefs", self.beliefs);
  }
};

/// Throws InputError if fields contradict each other (a link part longer than its stage, scaling points that
/// do not rise …).
void check(const Profile& profile, const std::string& where);

/// Removes values that earlier versions wrote for unmeasured slowdowns: 1 divided by the fair share of an
/// oversubscribed CPU. Their documents are recognised by having all slowdowns; the current profiler omits
/// those that do not apply to the kind of device.
void forget_unmeasured(Profile& profile);

/// Reads a profile, calls forget_unmeasured() and checks the result. Throws InputError.
Profile read_profile(const std::filesystem::path& path);

/// Returns the cores and devices for resolving plans.
inline plan::Cores cores_of(const Profile& profile) {
  return {profile.machine.cpu.cores, profile.machine.device.kind, profile.machine.device.count,
          physical_cores_of(profile.machine.cpu)};
}

}  // namespace gnomon::profiles
