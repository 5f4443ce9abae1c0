#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>

#include "base/document.h"
#include "sim/prediction.h"
#include "tuner/search/search.h"

namespace gnomon::tuner {

/// A file to which a search appends every evaluation, so that a search that was killed at any moment can be
/// resumed: it is repeated with the recorded predictions, requests the same plans and arrives at the same
/// result. With a larger budget it goes on after them. The first line identifies the search
/// ("gnomon.journal/2"); each other line holds a plan and its prediction.
class Journal {
 public:
  /// Opens or creates the file. `search` is everything that the search depends on. Throws InputError if the
  /// file is no journal, of another version or of another search; Failure if it cannot be written. An
  /// incomplete last line is dropped.
  Journal(std::filesystem::path path, const base::Json& search);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Returns recorded predictions for plans that have one; calls `evaluate` for the others and records its
  /// predictions. The journal must outlive the result.
  EvaluateAll recording(EvaluateAll evaluate);

  /// The number of evaluations that the file held when it was opened.
  std::size_t resumed() const { return resumed_; }

 private:
  void read(const std::string& text, const base::Json& search);
  void append(const base::Json& line);

  std::filesystem::path path_;
  std::unordered_map<std::string, sim::Prediction> known_;  ///< by the plan's document
  std::size_t resumed_ = 0;
  int descriptor_ = -1;
};

}  // namespace gnomon::tuner
