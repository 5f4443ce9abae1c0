#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tuner/history/outcomes.h"

namespace gnomon::tuner {

/// Outcomes of this user's finished runs, one document for each, in the directory "history" of
/// base::user_cache(). Processes may use it concurrently.
class History {
 public:
  /// The newest that are kept.
  static constexpr std::size_t max_runs = 300;

  /// The history in the user's cache. Without one, or if the environment variable GNOMON_HISTORY is "off" or
  /// empty, it keeps nothing.
  History();
  /// A history in this directory, which need not exist; empty: keeps nothing.
  explicit History(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// Empty if nothing is kept.
  const std::filesystem::path& directory() const { return directory_; }
  /// Why there is no directory, as one line.
  const std::string& why_none() const { return why_none_; }

  /// All outcomes, the oldest first. Documents that are damaged, or of other predictions_version, are left
  /// out.
  std::vector<Outcomes> read() const;

  /// Adds outcomes, and removes the oldest beyond max_runs. Returns why they were not kept, as one line;
  /// empty if they were.
  std::string add(const Outcomes& outcomes) const;

  /// Removes all, and returns their number. Throws Failure if one cannot be removed.
  int forget() const;

 private:
  std::filesystem::path directory_;
  std::string why_none_ = "there is no cache";
};

}  // namespace gnomon::tuner
