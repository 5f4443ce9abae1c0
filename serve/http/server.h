#pragma once

#include <functional>
#include <memory>
#include <string>

#include "serve/message.h"

namespace gnomon::serve {

/// An HTTP/1.1 server. Several threads answer requests and never wait for clients (connections.h). Requests
/// that are too large are refused; requests that arrive too slowly are dropped.
class HttpServer {
 public:
  using Answer = std::function<Response(const Request&)>;

  /// Listens, but does not accept yet. `port` 0: any free port. Throws Failure if it cannot listen.
  HttpServer(const std::string& host, int port, Answer answer);
  ~HttpServer();

  int port() const;
  /// Answers until stop() is called.
  void run();
  /// Makes run(), called by another thread now or later, return.
  void stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace gnomon::serve
