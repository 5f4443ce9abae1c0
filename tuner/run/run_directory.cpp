#include "tuner/run/run_directory.h"

#include "base/directory_lock.h"
#include "base/error.h"

namespace gnomon::tuner {
namespace {

namespace fs = std::filesystem;

/// "graphs/arxiv.csv.gz" and "graphs/arxiv/" are both "arxiv".
std::string short_name(const fs::path& data) {
  auto name = (data.has_filename() ? data : data.parent_path()).filename().string();
  name = name.substr(0, name.find('.', 1));
  return name.empty() || name == "/" ? "run" : name;
}

/// Whether this call made the directory. Throws Failure if it cannot be made.
bool make(const fs::path& directory) {
  std::error_code error;
  const bool made = fs::create_directories(directory, error);
  if (error) {
    throw base::Failure(directory.string(), "cannot be made: " + error.message());
  }
  return made;
}

void remove_run(const RunFiles& files) {
  for (const auto& file : files.all()) {
    std::error_code error;
    fs::remove(file, error);
    if (error) {
      throw base::Failure(file.string(), "cannot be removed: " + error.message());
    }
  }
}

}  // namespace

std::vector<fs::path> RunFiles::all() const {
  return {job(),   plan(),  profile(), tuning(),     replanning(), report(),
          trace(), order(), log(),     checkpoint(), weights()};
}

bool RunFiles::hold_run() const { return fs::exists(job()) || fs::exists(checkpoint()); }

void check_run_directory(const std::string& asked, ExistingRun existing) {
  if (asked.empty() || !fs::exists(asked)) {
    return;
  }
  if (!fs::is_directory(asked)) {
    throw base::InputError(asked, "is a file; name a directory for the run");
  }
  if (RunFiles{asked}.hold_run()) {
    if (existing == ExistingRun::refuse) {
      throw base::InputError(asked, base::is_locked(asked)
                                        ? "holds a run of another process of gnomon, which goes on; wait for "
                                          "it, or name another directory"
                                        : "holds a run; continue it with gnomon train --resume, replace it "
                                          "with --overwrite, or name another directory");
    }
  } else if (!fs::is_empty(asked)) {
    throw base::InputError(asked, "holds files but no run; name a new or an empty directory");
  }
}

RunFiles make_run_directory(const std::string& asked, const fs::path& data, ExistingRun existing) {
  if (!asked.empty()) {
    check_run_directory(asked, existing);
    make(asked);
    const base::DirectoryLock lock(asked);
    remove_run({asked});
    return {asked};
  }
  const auto name = short_name(data);
  for (int counter = 1;; ++counter) {
    const auto directory = fs::path("runs") / (name + "-" + std::to_string(counter));
    if (!fs::exists(directory) && make(directory)) {
      return {directory};
    }
  }
}

}  // namespace gnomon::tuner
