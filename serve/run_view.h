#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/document.h"

namespace gnomon::serve {

/// The names of the runs in a directory of runs, the last that was written to first.
std::vector<std::string> run_names(const std::filesystem::path& runs);

/// A finished or running training as its files tell: {"plan", "has_ended", "epochs": lines of log.jsonl,
/// "predicted": {"epoch_s", …} or null, "why_not"}. Predicted is the run's plan on its own profile.json,
/// which `autotune` writes, or on `profile` if it has none. Throws InputError if there is no such run.
base::Json run_document(const std::filesystem::path& runs, const std::string& name,
                        const std::string& profile);

}  // namespace gnomon::serve
