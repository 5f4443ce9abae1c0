#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace gnomon::tuner {

/// The files that gnomon writes to a run's directory.
struct RunFiles {
  std::filesystem::path directory;

  std::filesystem::path job() const { return directory / "job.json"; }
  std::filesystem::path plan() const { return directory / "plan.json"; }
  std::filesystem::path profile() const { return directory / "profile.json"; }
  std::filesystem::path tuning() const { return directory / "tuning.json"; }
  std::filesystem::path replanning() const { return directory / "replanning.json"; }
  std::filesystem::path report() const { return directory / "report.json"; }
  std::filesystem::path trace() const { return directory / "trace.json"; }
  std::filesystem::path order() const { return directory / "order.jsonl"; }
  std::filesystem::path log() const { return directory / "log.jsonl"; }
  std::filesystem::path checkpoint() const { return directory / "checkpoint.pt"; }
  std::filesystem::path weights() const { return directory / "weights.safetensors"; }

  /// All of the above. `--overwrite` removes these and nothing else.
  std::vector<std::filesystem::path> all() const;
  /// Whether the directory holds a run: its job or its checkpoint.
  bool hold_run() const;
};

/// How to treat an existing run in the requested directory.
enum class ExistingRun : unsigned char { refuse, overwrite };

/// Throws InputError if `asked` is a file, a directory that holds a run (unless it may be overwritten), or
/// one that holds other files only. An empty or absent directory, and no directory at all, are fine. Changes
/// nothing, so that it can be called before any work.
void check_run_directory(const std::string& asked, ExistingRun existing = ExistingRun::refuse);

/// Makes the directory `asked` if it does not exist, and removes the files of a run that may be overwritten;
/// other files stay. If `asked` is empty, makes the first of runs/DATA-1, runs/DATA-2, … that does not exist,
/// DATA being the last part of `data`'s path without its extensions. Throws what check_run_directory throws,
/// InputError if another process uses the directory, Failure if it cannot be made.
RunFiles make_run_directory(const std::string& asked, const std::filesystem::path& data,
                            ExistingRun existing = ExistingRun::refuse);

}  // namespace gnomon::tuner
