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

struct ConnectionLimits {
  std::chrono::milliseconds idle{5000};       ///< without a request
  std::chrono::milliseconds request{10000};   ///< from a request's first byte to its last
  std::chrono::milliseconds response{30000};  ///< for the client to take a whole response
  std::size_t connections = 4096;  ///< open at once: beyond them the oldest unfinished one is closed
  std::size_t bytes = std::size_t{64} << 20;  ///< of unfinished requests: as above
  std::size_t threads = 32;                   ///< that answer
};

/// Clients' connections. One thread reads and writes them all, and only whole requests are handed to the
/// threads that answer, so a client that sends or takes its bytes slowly keeps none of them from others.
class Connections {
 public:
  struct Reply {
    std::string bytes;
    bool is_last = false;  ///< the connection is closed after it
  };
  /// From a whole request, of which nothing more comes if `is_last`. Several threads call it at once.
  using Answer = std::function<Reply(const std::string& request, bool is_last)>;

  /// Throws Failure.
  Connections(Answer answer, ConnectionLimits limits);
  /// As finish().
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  /// Takes over a connected socket. Any thread may call it; after finish() the socket is closed.
  void add(int socket);
  /// Drops unfinished requests, answers those that are whole, and ends all threads.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  using Id = std::uint64_t;
  enum class State {
    reading,    ///< a request, or nothing yet
    answering,  ///< a thread has its request; the socket is left alone
    writing,    ///< a response
    draining,   ///< what the client still sends is read, as closing at once could lose it the response
  };
  struct Connection {
    int socket = -1;
    State state = State::reading;
    std::string in{};  ///< read and not yet answered
    std::string out{};
    std::size_t written = 0;  ///< of `out`
    Framing framing{};
    bool is_last = false;  ///< nothing is answered after `out`
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

  // Of the thread that reads and writes:
  std::map<Id, Connection> connections_;  ///< the oldest first
  Id next_ = 1;                           ///< 0 stands for wake_
  std::size_t held_bytes_ = 0;            ///< of all `in`
  Clock::time_point next_look_{};         ///< for connections that are late

  // Of all threads:
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
