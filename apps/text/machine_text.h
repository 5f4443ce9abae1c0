#pragma once

#include <string>

#include "profiles/catalog.h"
#include "profiles/machine_store.h"

namespace gnomon::apps {

/// The machine and a table of its speeds.
std::string machine_text(const profiles::CatalogMachine& machine);

/// Whether a stored document is of the machine with the key `here`, with any GPU or none.
bool is_of_this_machine(const profiles::StoreEntry& entry, const profiles::MachineKey& here);

/// The documents of the store, with what they are keyed by; those of the machine with the key `here` first.
std::string stored_machines_text(const profiles::MachineStore& store, const profiles::MachineKey& here);

}  // namespace gnomon::apps
