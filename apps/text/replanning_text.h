#pragma once

#include <string>

#include "tuner/run/replanned.h"

namespace gnomon::apps {

/// One line: why plans were compared, which one continues, and its gain.
std::string replanned_text(const tuner::Replanned& replanned);

}  // namespace gnomon::apps
