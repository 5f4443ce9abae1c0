#pragma once

#include <stdexcept>
#include <string>

namespace gnomon::base {

/// Invalid input: a file, flag, document, environment or plan that cannot be used. The message is one line
/// that names the file and field, what is wrong and what would be right. A command exits with code 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  /// "where: what", for instance InputError("g/indptr.npy", "not monotone at position 7").
  InputError(const std::string& where, const std::string& what) : std::runtime_error(where + ": " + what) {}
};

/// A failure of the system on valid input, such as a full disk or an I/O error. A command exits with code 1.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  Failure(const std::string& where, const std::string& what) : std::runtime_error(where + ": " + what) {}
};

/// The user asked to stop (Ctrl-C). Code that catches it leaves a resumable state. A command exits with
/// code 1.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
  /// `next` says how to resume, for instance "resume with: gnomon train … --resume".
  explicit Interrupted(const std::string& next) : std::runtime_error("interrupted; " + next) {}
};

}  // namespace gnomon::base
