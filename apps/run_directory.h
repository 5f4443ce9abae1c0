#pragma once

#include <filesystem>
#include <string>

namespace gnomon::apps {

/// What a run's directory holds beside the trainer's own files; one name, one place.
struct RunFiles {
  std::filesystem::path directory;

  std::filesystem::path job() const { return directory / "job.json"; }
  std::filesystem::path plan() const { return directory / "plan.json"; }
  std::filesystem::path profile() const { return directory / "profile.json"; }
  std::filesystem::path tuning() const { return directory / "tuning.json"; }
  std::filesystem::path report() const { return directory / "report.json"; }
  std::filesystem::path trace() const { return directory / "trace.json"; }
  std::filesystem::path order() const { return directory / "order.jsonl"; }
};

/// The directory called `asked`, made if it is not there; without a name the first of runs/DATA-1,
/// runs/DATA-2, … that is new, DATA being the last part of `data`'s path without its endings. Throws
/// InputError when `asked` is a file, Failure when it cannot be made.
RunFiles make_run_directory(const std::string& asked, const std::filesystem::path& data);

}  // namespace gnomon::apps
