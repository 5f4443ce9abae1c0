#pragma once

#include <string>
#include <vector>

#include "profiles/catalog.h"
#include "profiles/profile.h"
#include "tuner/explore/exploration.h"

namespace gnomon::reproduce {

/// Returns the profile of a name or file (find_profile) as tuner::explore() takes it, with all fields, so
/// that fields missing in the file can be changed, too. With `machine`, a name of the catalog or a file, it
/// is moved there: by measured speeds, if that machine has them and the profile holds its own or `from` names
/// the document of the machine on which it was measured. `names` distinguish its rows. Throws InputError.
tuner::ExploredProfile explored_profile(const std::string& name, const std::string& machine,
                                        std::vector<tuner::Setting> names, const std::string& from = "");

/// The profile of that name or file, moved as above. Throws InputError.
profiles::MovedProfile moved_profile(const profiles::Profile& profile, const std::string& machine,
                                     const std::string& from);

}  // namespace gnomon::reproduce
