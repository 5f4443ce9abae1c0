#include "tuner/history/history.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <utility>

#include "base/user_cache.h"

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

}  // namespace

History::History() {
  auto cache = base::user_cache();
  const bool is_off = base::is_turned_off("GNOMON_HISTORY");
  directory_ = is_off ? fs::path() : cache.of("history");
  why_none_ = is_off ? "GNOMON_HISTORY is off" : std::move(cache.why_none);
}

std::vector<Outcomes> History::read() const {
  std::vector<Outcomes> all;
  for (const auto& file : base::documents_in(directory_)) {
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
    return why_none_;
  }
  try {
    fs::create_directories(directory_);
    base::write_document(directory_ / new_name(), outcomes);
    const auto kept = base::documents_in(directory_);
    for (std::size_t i = 0; i + max_runs < kept.size(); ++i) {
      base::remove_document(kept[i]);
    }
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

int History::forget() const { return base::remove_documents(directory_); }

}  // namespace gnomon::tuner
