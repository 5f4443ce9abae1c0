#include "tuner/history/history.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <system_error>

#include "base/error.h"

namespace gnomon::tuner {
namespace {

namespace fs = std::filesystem;

/// Names sort by time. Processes and runs of one process differ.
std::string new_name() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  char name[64];
  std::snprintf(name, sizeof name, "%020lld-%ld.json",
                static_cast<long long>(std::chrono::nanoseconds(now).count()), static_cast<long>(getpid()));
  return name;
}

/// Whether there was such a file: another process may have removed it.
bool remove_file(const fs::path& file) {
  std::error_code failed;
  const bool removed = fs::remove(file, failed);
  if (failed) {
    throw base::Failure(file.string(), "cannot be removed: " + failed.message());
  }
  return removed;
}

}  // namespace

std::vector<fs::path> History::files() const {
  std::vector<fs::path> files;
  std::error_code absent;
  for (auto entry = fs::directory_iterator(directory_, absent); !absent && entry != fs::directory_iterator();
       entry.increment(absent)) {
    if (entry->path().extension() == ".json") {
      files.push_back(entry->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Outcomes> History::read() const {
  std::vector<Outcomes> all;
  for (const auto& file : files()) {
    try {
      auto outcomes = base::read_document<Outcomes>(file);
      check(outcomes, file.string());
      if (outcomes.predictions == predictions_version) {
        all.push_back(std::move(outcomes));
      }
    } catch (const std::exception&) {  // damaged, of another version, or just removed: it teaches nothing
    }
  }
  return all;
}

std::string History::add(const Outcomes& outcomes) const {
  if (directory_.empty()) {
    return "there is no cache";
  }
  try {
    fs::create_directories(directory_);
    base::write_document(directory_ / new_name(), outcomes);
    const auto kept = files();
    for (std::size_t i = 0; i + max_runs < kept.size(); ++i) {
      remove_file(kept[i]);
    }
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

int History::forget() const {
  int count = 0;
  for (const auto& file : files()) {
    count += remove_file(file) ? 1 : 0;
  }
  return count;
}

}  // namespace gnomon::tuner
