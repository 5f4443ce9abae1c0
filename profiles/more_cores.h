#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document.h"
#include "profiles/core_law.h"
#include "profiles/profile.h"

namespace gnomon::profiles {

/// What a predicted time rests on, from the strongest to the weakest.
enum class RestsOn : std::uint8_t {
  measured,    ///< this job on this machine
  speeds,      ///< counts of operations over measured speeds of machines
  data_sheet,  ///< published or given numbers of a machine
  assumed,     ///< a belief
};

/// The machine on which a profile was measured.
struct MeasuredOn {
  int cores = 1;
  std::optional<double> memory_bandwidth_bytes_per_s{};
};

/// The machine of a profile.
MeasuredOn measured_on(const Profile& profile);

/// The lists of points of a profile that the law of cores continues.
enum class Scaled : std::uint8_t {
  workers,         ///< worker_efficiency
  worker_threads,  ///< cpu_batch_speedup
  sampling,        ///< cpu_sample_speedup
  training,        ///< train_speedup
  preparing,       ///< device_batch_speedup
};

/// One list of points, beyond its measured ones.
struct Extension {
  int measured = 1;        ///< the largest measured number of threads or workers
  int continued_from = 1;  ///< the last point before the law's, measured or believed
  RestsOn rests_on = RestsOn::measured;
  std::string law;  ///< of points beyond the measured ones: "counts over the machine's speeds …"; or empty
};

/// A profile whose points reach as many threads as its machine has cores.
struct Extended {
  Profile profile;
  std::array<Extension, 5> lists{};  ///< by Scaled
  /// Slowdowns by workers if those on the further cores slow the other stages down as the lower belief on
  /// workers says; none if the machine has no more cores than the measured one.
  std::optional<Contention> more_contention{};

  const Extension& of(Scaled list) const { return lists[static_cast<std::size_t>(list)]; }
};

/// The field of a list: "train_speedup".
std::string_view field_of(Scaled list);

/// The points of a list, and the work that it is about.
std::vector<ScalingPoint> WorkloadProfile::*points_of(Scaled list);
std::vector<Amount> work_of(const WorkloadProfile& workload, Scaled list);

/// What is known of the cores of a profile that was measured on `measured`.
CoreFacts core_facts(const Profile& profile, const MeasuredOn& measured);

/// Continues all points of a profile to the cores of its machine (core_law.h), if that has more than were
/// measured. Points that were measured stay, and those that are believed get the belief's interval. Of
/// profiles without points, such as the papers', the times are those on all cores of the measured machine. On
/// more cores than the measured machine has, a worker slows training and copies down in proportion to its
/// share of the cores, and an evaluation becomes faster as training does. `profile.machine_speeds` are those
/// of the profile's machine.
Extended extended(Profile profile, const MeasuredOn& measured);

}  // namespace gnomon::profiles

namespace gnomon::base {
template <>
struct EnumNames<profiles::RestsOn> {
  using RestsOn = profiles::RestsOn;
  static constexpr std::array<std::pair<RestsOn, std::string_view>, 4> values{
      {{RestsOn::measured, "measured"},
       {RestsOn::speeds, "speeds"},
       {RestsOn::data_sheet, "data sheet"},
       {RestsOn::assumed, "assumed"}}};
};
}  // namespace gnomon::base
