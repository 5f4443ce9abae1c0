#pragma once

#include <functional>

#include "python/c_api/gnomon.h"

namespace gnomon::c_api {

/// Returns the result of `work`. An exception becomes a status, and its message becomes last_error().
gnomon_status guarded(const std::function<gnomon_status()>& work) noexcept;

/// The message of this thread's last failed call; empty if there was none.
const char* last_error() noexcept;

/// Throws InputError, naming `argument`, if the pointer is null.
void require(const void* pointer, const char* argument);

/// Records the process that created an object with threads, which a fork does not copy.
class OwnProcess {
 public:
  OwnProcess();
  bool is_current() const;
  /// Throws Forked if this is another process, naming `what`.
  void check(const char* what) const;

 private:
  int id_;
};

}  // namespace gnomon::c_api
