#pragma once

#include <string>

#include "profiles/catalog.h"

namespace gnomon::apps {

/// The machine and a table of its speeds.
std::string machine_text(const profiles::CatalogMachine& machine);

}  // namespace gnomon::apps
