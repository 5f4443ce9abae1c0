#pragma once

#include <sys/types.h>

#include <functional>

namespace gnomon::base {

/// A single-threaded process that forks a child for each request. It lets a multithreaded program run work
/// that itself forks, or that needs a process of its own, as SimGrid's engine does. A crash ends only the
/// child.
class ForkServer {
 public:
  /// Runs in the child that serves a request. When it returns, the socket is closed and the child exits.
  /// Writing to a socket whose peer has closed its end fails with EPIPE.
  using Serve = std::function<void(int socket)>;

  /// Forks the process. Precondition: this process has no other threads. Throws Failure.
  explicit ForkServer(const Serve& serve);
  /// Ends the process and all children.
  ~ForkServer();
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  /// Starts the child for a request and returns a socket connected to it, which the caller closes.
  /// Thread-safe. Throws Failure.
  int open() const;

 private:
  pid_t process_ = -1;
  int control_ = -1;
};

}  // namespace gnomon::base
