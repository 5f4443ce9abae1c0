// Builds without cpp-httplib have no server.
#include "serve/http/server.h"

#include "base/error.h"

namespace gnomon::serve {

struct HttpServer::Parts {};

HttpServer::HttpServer(const std::string&, int, Answer) {
  throw base::InputError(
      "this build has no server; install libcpp-httplib-dev and build gnomon from its sources");
}
HttpServer::~HttpServer() = default;

int HttpServer::port() const { return 0; }
void HttpServer::run() {}
void HttpServer::stop() {}

}  // namespace gnomon::serve
