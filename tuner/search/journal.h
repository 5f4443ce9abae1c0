#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/document.h"
#include "sim/prediction.h"
#include "tuner/search/search.h"

namespace gnomon::tuner {

/// A file to which a search appends every evaluation, so that a search that was killed at any moment can be
/// resumed: it is repeated with the recorded predictions, requests the same plans and arrives at the same
/// result. The first line identifies the search ("gnomon.journal/2"); each other line holds a plan and its
/// prediction.
class Journal {
 public:
  /// Opens or creates the file. `search` is everything that the search depends on. Throws InputError if the
  /// file is no journal, of another version or of another search; Failure if it cannot be written. An
  /// incomplete last line is dropped.
  Journal(std::filesystem::path path, const base::Json& search);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Returns recorded predictions while there are any, then calls `evaluate` and records its predictions. The
  /// journal must outlive the result.
  EvaluateAll recording(EvaluateAll evaluate);

  /// The number of evaluations that the file held when it was opened.
  std::size_t resumed() const { return known_.size(); }

 private:
  void read(const std::string& text, const base::Json& search);
  void append(const base::Json& line);

  std::filesystem::path path_;
  std::vector<std::pair<base::Json, sim::Prediction>> known_;
  std::size_t next_ = 0;
  int descriptor_ = -1;
};

}  // namespace gnomon::tuner
