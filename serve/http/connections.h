#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "serve/http/framing.h"

namespace gnomon::serve {

/// Limits on connections. Beyond `connections` or `bytes`, the oldest connection that waits for its client is
/// closed.
struct ConnectionLimits {
  std::chrono::milliseconds idle{5000};       ///< maximum time without a request
  std::chrono::milliseconds request{10000};   ///< maximum time between a request's first byte and its last
  std::chrono::milliseconds response{30000};  ///< maximum time for the client to receive a whole response
  std::size_t connections = 4096;             ///< open at once
  std::size_t bytes = std::size_t{64} << 20;  ///< of all unfinished requests
  std::size_t threads = 32;                   ///< threads that answer requests
};

/// Clients' connections. One thread reads and writes all sockets, and passes only complete requests to the
/// threads that answer them: slow clients do not block others.
class Connections {
 public:
  struct Reply {
    std::string bytes;
    bool is_last = false;  ///< the connection is closed after it
  };
  /// Answers a complete request. `is_last`: no further request can be read from its connection. Called by
  /// several threads at once.
  using Answer = std::function<Reply(const std::string& request, bool is_last)>;

  /// Starts the threads. Throws Failure if the process has no file descriptors left.
  Connections(Answer answer, ConnectionLimits limits);
  /// Calls finish().
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  /// Takes over a connected socket. Any thread may call it; after finish() the socket is closed.
  void add(int socket);
  /// Drops unfinished requests, answers complete ones, and ends all threads.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void close();
  using Id = std::uint64_t;
  enum class State {
    reading,    ///< idle, or reading a request
    answering,  ///< a thread computes the response; the socket is not watched
    writing,    ///< a response
    draining,   ///< discarding further input before closing, lest a reset destroy the response
  };
  struct Connection {
    int socket = -1;
    State state = State::reading;
    std::string in{};  ///< received bytes that are not yet answered
    std::string out{};
    std::size_t written = 0;  ///< of `out`
    Framing framing{};
    bool is_last = false;  ///< `out` is the connection's last response
    Clock::time_point deadline{};
  };
  struct Asked {
    Id id = 0;
    std::string request{};
    bool is_last = false;
  };

  void run();
  void work();
  void wake() const;
  void take_over(int socket);
  void take_news();
  void handle(Id id);
  void read(Id id, Connection& connection);
  void hand_over_if_whole(Id id, Connection& connection);
  void write(Id id, Connection& connection);
  void go_on(Id id, Connection& connection);
  void drain(Id id, Connection& connection);
  void end_late_ones();
  template <class Predicate>
  void close_if(const Predicate& is_to_close);
  void make_room();
  void close(Id id);
  void watch(Id id, const Connection& connection, std::uint32_t events) const;

  const Answer answer_;
  const ConnectionLimits limits_;
  int poll_ = -1;
  int wake_ = -1;

  // Used only by the thread that reads and writes:
  std::map<Id, Connection> connections_;  ///< the oldest first
  Id next_ = 1;                           ///< the next id; 0 is wake_
  std::size_t held_bytes_ = 0;            ///< of all `in`
  Clock::time_point next_look_{};         ///< when deadlines are checked next

  // Shared by all threads:
  std::mutex mutex_;
  std::condition_variable asked_;
  std::vector<int> added_;
  std::deque<Asked> requests_;
  std::vector<std::pair<Id, Reply>> replies_;
  bool is_finishing_ = false;
  std::atomic<bool> is_over_ = false;  ///< all requests are answered

  std::vector<std::thread> workers_;
  std::thread loop_;
};

}  // namespace gnomon::serve
