#pragma once

#include <string>

namespace gnomon::apps {

/// Lists the machine store, as text or as a document.
void print_stored_machines(bool json);

/// Removes the stored documents of this machine ("this") or of every machine ("all"). Throws InputError if
/// there is no store.
void forget_machines(const std::string& which);

/// Writes the stored document of this machine, the one with its GPU if `with_gpu` and there is one. Throws
/// InputError if it is not stored.
void share_machine(const std::string& file, bool with_gpu);

}  // namespace gnomon::apps
