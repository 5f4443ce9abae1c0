#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/document.h"

namespace gnomon::serve {

/// The runs that a page shows.
struct Runs {
  std::string directory{};            ///< holds runs; empty: none
  std::vector<std::string> single{};  ///< directories of single runs, offered first
};

/// Whether a directory holds the files of a run.
bool is_run(const std::filesystem::path& directory);

/// The names of the runs now: of the single ones their directories, then of those in the directory, the last
/// that was written to first.
std::vector<std::string> run_names(const Runs& runs);

/// A finished or running training as its files tell: {"plan", "workers", "devices", "has_ended", "epochs":
/// lines of log.jsonl}. Throws InputError if there is no such run.
base::Json run_document(const Runs& runs, const std::string& name);

/// An epoch of the run's plan, simulated on the run's own profile.json, which `autotune` writes, or on
/// `profile` if it has none: the fields of sim::Prediction, "stages" (schedule::stages_document), and
/// "profile", which was used. Throws InputError if there is no such run, or if the plan is not possible.
base::Json predicted_run(const Runs& runs, const std::string& name, const std::string& profile);

}  // namespace gnomon::serve
