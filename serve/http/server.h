#pragma once

#include <functional>
#include <memory>
#include <string>

#include "serve/message.h"

namespace gnomon::serve {

/// Answers requests over HTTP/1.1 on several threads, which never wait for clients (connections.h). Requests
/// that are too large are refused, and those that take too long dropped.
class HttpServer {
 public:
  using Answer = std::function<Response(const Request&)>;

  /// Listens, but does not accept yet. `port` 0 takes a free one. Throws Failure.
  HttpServer(const std::string& host, int port, Answer answer);
  ~HttpServer();

  int port() const;
  /// Answers until stop() is called.
  void run();
  /// Ends run(), which another thread has called or is about to call.
  void stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace gnomon::serve
