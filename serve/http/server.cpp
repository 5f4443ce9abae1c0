#include "serve/http/server.h"

#include <httplib.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include "base/error.h"
#include "serve/http/connections.h"

namespace gnomon::serve {
namespace {

/// Runs tasks on httplib's accepting thread: they only pass the socket on.
class NoQueue final : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> task) override { task(); }
  void shutdown() override {}
};

/// A complete request, and its response.
class WholeRequest final : public httplib::Stream {
 public:
  explicit WholeRequest(const std::string& request) : rest_(request) {}
  std::string response() && { return std::move(response_); }

  bool is_readable() const override { return !rest_.empty(); }
  bool is_writable() const override { return true; }
  ssize_t read(char* bytes, std::size_t size) override {
    const auto count = rest_.copy(bytes, size);
    rest_.remove_prefix(count);
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* bytes, std::size_t size) override {
    response_.append(bytes, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return INVALID_SOCKET; }

 private:
  std::string_view rest_;
  std::string response_;
};

/// httplib accepts, parses and formats; Connections reads and writes.
class Server final : public httplib::Server {
 public:
  explicit Server(const ConnectionLimits& limits)
      : connections_([this](const std::string& request, bool is_last) { return reply_to(request, is_last); },
                     limits) {}
  /// Answers complete requests and drops unfinished ones.
  void finish() { connections_.finish(); }

 private:
  bool process_and_close_socket(socket_t socket) override {
    connections_.add(socket);
    return true;
  }

  Connections::Reply reply_to(const std::string& request, bool is_last) {
    WholeRequest stream(request);
    bool is_closed = false;  // whether the client asked to close the connection
    const bool is_understood = process_request(stream, is_last, is_closed, nullptr);
    auto response = std::move(stream).response();
    const bool is_refused = response.starts_with("HTTP/1.1 400");  // the bytes after it may not be a request
    return {std::move(response), is_last || is_closed || is_refused || !is_understood};
  }

  Connections connections_;
};

/// Leaves half of the file descriptors to the rest of the process.
ConnectionLimits limits_here() {
  ConnectionLimits limits;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    limits.connections = std::clamp<std::size_t>(files.rlim_cur / 2, 16, limits.connections);
  }
  return limits;
}

Request request_of(const httplib::Request& asked) {
  Request request{asked.method, asked.path, {}, asked.body};
  for (const auto& [name, value] : asked.headers) {
    std::string lower = name;
    std::ranges::transform(name, lower.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    request.headers[lower] = value;
  }
  return request;
}

void fill(const Response& answer, httplib::Response& response) {
  response.status = answer.status;
  response.set_content(answer.body, answer.type);
  response.set_header("Cache-Control", "no-store");
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("X-Frame-Options", "DENY");
  response.set_header("Referrer-Policy", "no-referrer");
  response.set_header("Content-Security-Policy",
                      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                      "img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
}

}  // namespace

struct HttpServer::Parts {
  Server server{limits_here()};
  int port = 0;
  int socket = -1;                  ///< that listens
  std::atomic<bool> ended = false;  ///< whether run() has returned
};

HttpServer::HttpServer(const std::string& host, int port, Answer answer) : parts_(std::make_unique<Parts>()) {
  auto& server = parts_->server;
  server.new_task_queue = [] { return new NoQueue; };
  server.set_payload_max_length(max_body_bytes);
  server.set_socket_options([this](int socket) {
    const int yes = 1;  // unlike httplib's default, SO_REUSEPORT, this does not let two servers share a port
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    parts_->socket = socket;
  });
  const auto handle = [answer = std::move(answer)](const httplib::Request& asked,
                                                   httplib::Response& response) {
    fill(answer(request_of(asked)), response);
  };
  server.Get(".*", handle);
  server.Post(".*", handle);
  parts_->port = port == 0 ? server.bind_to_any_port(host) : server.bind_to_port(host, port) ? port : -1;
  if (parts_->port < 0) {
    throw base::Failure(host + ":" + std::to_string(port), "cannot listen there: is the port in use?");
  }
  ::listen(parts_->socket, SOMAXCONN);  // httplib's backlog of 5 makes further clients retry after a second
}

HttpServer::~HttpServer() = default;

int HttpServer::port() const { return parts_->port; }

void HttpServer::run() {
  parts_->server.listen_after_bind();
  parts_->server.finish();
  parts_->ended = true;
}

void HttpServer::stop() {
  while (!parts_->server.is_running() && !parts_->ended) {  // httplib ignores stop() before it runs
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  parts_->server.stop();
}

}  // namespace gnomon::serve
