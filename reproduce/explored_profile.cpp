#include "reproduce/explored_profile.h"

#include <optional>
#include <utility>

#include "base/error.h"
#include "reproduce/paper_profiles.h"
#include "sim/uncertainty.h"

namespace gnomon::reproduce {

profiles::MovedProfile moved_profile(const profiles::Profile& profile, const std::string& machine,
                                     const std::string& from) {
  auto speeds = profile.machine_speeds;
  if (!from.empty()) {
    speeds = profiles::speeds_of(profiles::find_machine(from, "--from"), profile.machine, "--from: " + from);
  }
  sim::check_precision(profile,
                       "the profile of " + profile.workload.graph);  // moved times have other intervals
  return profiles::move_to_machine(profile, profiles::find_machine(machine), speeds);
}

tuner::ExploredProfile explored_profile(const std::string& name, const std::string& machine,
                                        std::vector<tuner::Setting> names, const std::string& from) {
  const auto profile = find_profile(name);
  if (machine.empty()) {
    if (!from.empty()) {
      throw base::InputError("--from",
                             "holds the speeds of the measured machine; name another machine with --machine");
    }
    return {base::to_document(profile, base::Absent::as_null), name, std::move(names), {}, {}};
  }
  auto moved = moved_profile(profile, machine, from);
  const bool by_speeds = moved.profile.machine_speeds.has_value();
  return {.document = base::to_document(moved.profile, base::Absent::as_null),
          .where = name,
          .names = std::move(names),
          .scalings = std::move(moved.scalings),
          .measured_on = profiles::cores_of(profile),
          .measured_bandwidth_bytes_per_s =
              by_speeds ? std::nullopt : profile.machine.cpu.memory_bandwidth_bytes_per_s};
}

}  // namespace gnomon::reproduce
