#pragma once

#include <string>

#include "profiles/profile.h"

namespace gnomon::apps {

/// A profile as text: the machine, the mini-batches, and a table of the stage times.
std::string text_of(const profiles::Profile& profile);

}  // namespace gnomon::apps
