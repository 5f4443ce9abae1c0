#pragma once

#include <sys/types.h>

#include <functional>

namespace gnomon::base {

/// A process without threads that forks another one for each request, for programs that have threads: work
/// that itself forks, or that cannot share a process, such as SimGrid's engine, is done there. A crash of
/// such work ends its own process only.
class ForkServer {
 public:
  /// Runs in the process of a request, which ends when it returns. The socket is closed behind it. A peer
  /// that has closed its end shows as EPIPE when writing.
  using Serve = std::function<void(int socket)>;

  /// Forks the process. Precondition: this process has no other threads. Throws Failure.
  explicit ForkServer(const Serve& serve);
  /// Ends the process and all that it has forked.
  ~ForkServer();
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  /// Starts the process of a request and returns the socket to it, which the caller closes. Any thread may
  /// call it. Throws Failure.
  int open() const;

 private:
  pid_t process_ = -1;
  int control_ = -1;
};

}  // namespace gnomon::base
