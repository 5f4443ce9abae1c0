#pragma once

#include <string>
#include <vector>

#include "profiles/profile.h"
#include "tuner/explore/exploration.h"

namespace gnomon::reproduce {

/// Returns the profile of a name or file (find_profile) as tuner::explore() takes it, with all fields, so
/// that those that the file leaves out can be changed too. With `machine`, a name of the catalog or a file,
/// it is moved there. `names` distinguish its rows. Throws InputError.
tuner::ExploredProfile explored_profile(const std::string& name, const std::string& machine,
                                        std::vector<tuner::Setting> names);

}  // namespace gnomon::reproduce
