#include "reproduce/explored_profile.h"

#include <utility>

#include "profiles/catalog.h"
#include "reproduce/paper_profiles.h"

namespace gnomon::reproduce {

tuner::ExploredProfile explored_profile(const std::string& name, const std::string& machine,
                                        std::vector<tuner::Setting> names) {
  const auto profile = find_profile(name);
  if (machine.empty()) {
    return {base::to_document(profile, base::Absent::as_null), name, std::move(names), {}, {}};
  }
  auto moved = profiles::move_to_machine(profile, profiles::find_machine(machine).machine);
  return {base::to_document(moved.profile, base::Absent::as_null), name, std::move(names),
          std::move(moved.scalings), profiles::cores_of(profile)};
}

}  // namespace gnomon::reproduce
