#pragma once

#include <stdexcept>
#include <string>

namespace gnomon::base {

/// The user gave something that cannot be used: a file, flag, document, environment or plan. The message is
/// one line that names the file and field, says what is wrong and what would be right. A command ends with
/// code 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  /// "where: what", for instance InputError("g/indptr.npy", "not monotone at position 7").
  InputError(const std::string& where, const std::string& what) : std::runtime_error(where + ": " + what) {}
};

/// The machine failed to do what was rightly asked (disk full, I/O error). A command ends with code 1.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  Failure(const std::string& where, const std::string& what) : std::runtime_error(where + ": " + what) {}
};

/// The user asked to stop (Ctrl-C). Whoever catches it leaves a resumable state; a command ends with code 1.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
  /// `next`: how to go on, for instance "go on with: gnomon train … --resume".
  explicit Interrupted(const std::string& next) : std::runtime_error("interrupted; " + next) {}
};

}  // namespace gnomon::base
