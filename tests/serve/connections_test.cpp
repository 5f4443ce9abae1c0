#include "serve/http/connections.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <new>
#include <string>
#include <string_view>
#include <thread>

namespace gnomon::serve {
namespace {

using namespace std::chrono_literals;

/// The client's end of a connection that `connections` takes over.
class Peer {
 public:
  explicit Peer(Connections& connections) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    socket_ = ends[0];
    connections.add(ends[1]);
  }
  ~Peer() { ::close(socket_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void send(std::string_view bytes) const { ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  /// What comes within this time, or until the end.
  std::string receive(std::chrono::milliseconds patience) {
    std::string all;
    std::array<char, 4096> bytes;
    pollfd readable{socket_, POLLIN, 0};
    while (!is_closed_ && ::poll(&readable, 1, static_cast<int>(patience.count())) == 1) {
      const auto received = ::recv(socket_, bytes.data(), bytes.size(), 0);
      is_closed_ = received <= 0;
      all.append(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(received, 0)));
    }
    return all;
  }
  bool is_closed(std::chrono::milliseconds patience) {
    receive(patience);
    return is_closed_;
  }

 private:
  int socket_ = -1;
  bool is_closed_ = false;
};

constexpr std::string_view shortest_request = "GET / HTTP/1.1\r\n\r\n";

Connections::Reply echo(const std::string& asked, bool is_last) { return {"<" + asked + ">", is_last}; }

TEST(Connections, AnswersEachRequestOnce) {
  Connections connections(echo, {});
  Peer peer(connections);
  peer.send(shortest_request);
  EXPECT_EQ(peer.receive(200ms), "<" + std::string(shortest_request) + ">");
  peer.send(shortest_request.substr(0, 5));
  EXPECT_EQ(peer.receive(100ms), "");
  peer.send(shortest_request.substr(5));
  EXPECT_EQ(peer.receive(200ms), "<" + std::string(shortest_request) + ">");
}

TEST(Connections, TheLastReplyEndsTheConnection) {
  Connections connections([](const std::string&, bool) { return Connections::Reply{"bye", true}; }, {});
  Peer peer(connections);
  peer.send(shortest_request);
  EXPECT_EQ(peer.receive(10s), "bye");
  EXPECT_TRUE(peer.is_closed(0ms));
}

TEST(Connections, BeyondTheMaximumTheOldestUnfinishedIsClosed) {
  Connections connections(echo, {.connections = 2});
  Peer first(connections);
  Peer second(connections);
  first.send("GET");
  Peer third(connections);
  EXPECT_TRUE(first.is_closed(10s));
  third.send(shortest_request);
  EXPECT_NE(third.receive(200ms), "");
  EXPECT_FALSE(second.is_closed(0ms));
}

TEST(Connections, UnfinishedRequestsHaveAMaximumOfBytes) {
  Connections connections(echo, {.bytes = 5000});
  Peer first(connections);
  Peer second(connections);
  const std::string begin = "POST / HTTP/1.1\r\nContent-Length: 100000\r\n\r\n" + std::string(3000, 'x');
  first.send(begin);
  EXPECT_FALSE(first.is_closed(100ms));
  second.send(begin);
  EXPECT_TRUE(first.is_closed(10s));
  EXPECT_FALSE(second.is_closed(0ms));
}

TEST(Connections, ARequestHasADeadlineHoweverItsBytesCome) {
  Connections connections(echo, {.request = 300ms});
  Peer trickling(connections);
  const auto begin = std::chrono::steady_clock::now();
  while (!trickling.is_closed(20ms) && std::chrono::steady_clock::now() < begin + 10s) {
    trickling.send("x");
  }
  EXPECT_TRUE(trickling.is_closed(0ms));
  EXPECT_GE(std::chrono::steady_clock::now(), begin + 300ms);
}

TEST(Connections, IdleOnesAreClosed) {
  Connections connections(echo, {.idle = 100ms});
  Peer peer(connections);
  EXPECT_TRUE(peer.is_closed(10s));
}

TEST(Connections, FinishAnswersWhatWasAskedAndDropsTheRest) {
  Connections connections(
      [](const std::string&, bool) {
        std::this_thread::sleep_for(200ms);
        return Connections::Reply{"late", false};
      },
      {});
  Peer asked(connections);
  Peer half(connections);
  asked.send(shortest_request);
  half.send("GET");
  std::this_thread::sleep_for(100ms);
  connections.finish();
  EXPECT_EQ(asked.receive(0ms), "late");
  EXPECT_TRUE(asked.is_closed(0ms));
  EXPECT_EQ(half.receive(0ms), "");
  EXPECT_TRUE(half.is_closed(0ms));
  EXPECT_TRUE(Peer(connections).is_closed(0ms));
}

TEST(Connections, AnAnswerThatThrowsEndsTheConnection) {
  Connections connections([](const std::string&, bool) -> Connections::Reply { throw std::bad_alloc(); }, {});
  Peer peer(connections);
  peer.send(shortest_request);
  EXPECT_TRUE(peer.is_closed(10s));
}

}  // namespace
}  // namespace gnomon::serve
