#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/document.h"
#include "tuner/search/search.h"

namespace gnomon::tuner {

/// A file to which a search adds a line for every evaluation as soon as it is known, so that a search that
/// was killed, at whatever moment, goes on where it was: begun again it is given what the journal holds, asks
/// for the same plans, and comes to the same end. The first line says which search it is
/// ("gnomon.journal/1"), each other one holds a plan and what was predicted of it.
class Journal {
 public:
  /// Opens the file or makes it. `search` is all that the search depends on. Throws InputError where the file
  /// is not a journal or of another search, Failure when it cannot be written. A last line that was cut off
  /// is dropped.
  Journal(std::filesystem::path path, const base::Json& search);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Answers from the journal as far as it goes, then asks `evaluate` and writes down what it says. Lives as
  /// long as the journal.
  EvaluateAll recording(EvaluateAll evaluate);

  /// Evaluations that it held when it was opened.
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
