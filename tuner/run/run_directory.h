#pragma once

#include <filesystem>
#include <string>

namespace gnomon::tuner {

/// The files in a run's directory, beside the trainer's checkpoint and logs.
struct RunFiles {
  std::filesystem::path directory;

  std::filesystem::path job() const { return directory / "job.json"; }
  std::filesystem::path plan() const { return directory / "plan.json"; }
  std::filesystem::path profile() const { return directory / "profile.json"; }
  std::filesystem::path tuning() const { return directory / "tuning.json"; }
  std::filesystem::path report() const { return directory / "report.json"; }
  std::filesystem::path trace() const { return directory / "trace.json"; }
  std::filesystem::path order() const { return directory / "order.jsonl"; }
  std::filesystem::path log() const { return directory / "log.jsonl"; }
  std::filesystem::path checkpoint() const { return directory / "checkpoint.pt"; }
  std::filesystem::path weights() const { return directory / "weights.safetensors"; }
};

/// Makes the directory `asked` if it does not exist. If `asked` is empty, makes the first of runs/DATA-1,
/// runs/DATA-2, … that does not exist, DATA being the last part of `data`'s path without its extensions.
/// Throws InputError if `asked` is a file, Failure if the directory cannot be made.
RunFiles make_run_directory(const std::string& asked, const std::filesystem::path& data);

}  // namespace gnomon::tuner
