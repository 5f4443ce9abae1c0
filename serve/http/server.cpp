#include "serve/http/server.h"

#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.h"

namespace gnomon::serve {
namespace {

constexpr std::size_t num_threads = 128;  ///< one per open connection; most of them sleep
constexpr std::size_t max_waiting = 64;
constexpr time_t max_wait_s = 5;  ///< for the next bytes of a request

/// A thread pool with a bounded queue: adding to a full queue blocks.
class BoundedPool final : public httplib::TaskQueue {
 public:
  BoundedPool() {
    for (std::size_t i = 0; i < num_threads; ++i) {
      threads_.emplace_back([this] { work(); });
    }
  }

  void enqueue(std::function<void()> task) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return tasks_.size() < max_waiting || closed_; });
    tasks_.push_back(std::move(task));
    changed_.notify_all();
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) {
      thread.join();
    }
  }

 private:
  void work() {
    while (true) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !tasks_.empty() || closed_; });
        if (tasks_.empty()) {
          return;
        }
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      changed_.notify_all();
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

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
  httplib::Server server;
  int port = 0;
  int socket = -1;                  ///< that listens
  std::atomic<bool> ended = false;  ///< whether run() has returned
};

HttpServer::HttpServer(const std::string& host, int port, Answer answer) : parts_(std::make_unique<Parts>()) {
  auto& server = parts_->server;
  server.new_task_queue = [] { return new BoundedPool; };
  server.set_payload_max_length(max_body_bytes);
  server.set_read_timeout(max_wait_s);
  server.set_write_timeout(max_wait_s);
  server.set_keep_alive_timeout(1);
  server.set_keep_alive_max_count(1000);
  server.set_socket_options([this](int socket) {
    const int yes = 1;  // unlike SO_REUSEPORT, httplib's default, it does not let two servers share a port
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
  ::listen(parts_->socket, SOMAXCONN);  // httplib lets 5 wait; further clients try again only after a second
}

HttpServer::~HttpServer() = default;

int HttpServer::port() const { return parts_->port; }

void HttpServer::run() {
  parts_->server.listen_after_bind();
  parts_->ended = true;
}

void HttpServer::stop() {
  while (!parts_->server.is_running() && !parts_->ended) {  // httplib would forget it
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  parts_->server.stop();
}

}  // namespace gnomon::serve
