#include "serve/http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "base/error.h"
#include "tests/fixtures/connection.h"
#include "tests/random_seed.h"

namespace gnomon::serve {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

/// A server that tells what it was asked.
class ServerTest : public ::testing::Test {
 protected:
  ServerTest()
      : server("127.0.0.1", 0,
               [](const Request& request) {
                 return Response{200, "text/plain", request.method + " " + request.path + " " + request.body};
               }),
        thread([this] { server.run(); }) {}
  ~ServerTest() override {
    server.stop();
    thread.join();
  }

  std::string answer_to(const std::string& request, std::chrono::milliseconds patience = 20s) const {
    const test::Connection connection(server.port());
    EXPECT_TRUE(connection.is_connected());
    connection.send(request);
    return connection.receive(patience);
  }
  static std::string get(const std::string& path) {
    return "GET " + path + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  }
  static std::string post(const std::string& body) {
    return "POST /p HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: "
           "application/json\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  void expect_alive() const { EXPECT_THAT(answer_to(get("/alive")), HasSubstr("GET /alive")); }

  HttpServer server;
  std::thread thread;
};

TEST_F(ServerTest, AnswersCarryTheirPolicies) {
  const auto answer = answer_to(post("{}"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("POST /p {}"));
  for (const char* header :
       {"Content-Security-Policy: default-src 'none'", "X-Content-Type-Options: nosniff",
        "X-Frame-Options: DENY", "Referrer-Policy: no-referrer", "Cache-Control: no-store"}) {
    EXPECT_THAT(answer, HasSubstr(header));
  }
}

TEST_F(ServerTest, WrongRequestsAreRefused) {
  const std::string large(max_body_bytes + 1, 'x');
  const std::vector<std::pair<std::string, const char*>> requests = {
      {post(large), "HTTP/1.1 413.*"},
      {"GET /" + std::string(20000, 'a') + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
       "HTTP/1.1 4.*"},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(20000, 'a') + "\r\n\r\n", "HTTP/1.1 4.*"},
      {"BREW / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "HTTP/1.1 4.*"},
      {"nonsense\r\n\r\n", "HTTP/1.1 4.*"},
  };
  std::vector<std::unique_ptr<test::Connection>> connections;
  for (const auto& [request, refusal] : requests) {
    connections.push_back(std::make_unique<test::Connection>(server.port()));
    connections.back()->send(request);
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto answer = connections[i]->receive(20s);
    EXPECT_THAT(answer.substr(0, answer.find('\r')), MatchesRegex(requests[i].second))
        << requests[i].first.substr(0, 40);
  }
  expect_alive();
}

TEST_F(ServerTest, SurvivesMutatedRequests) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  const std::vector<std::string> wholes = {get("/a"), post(R"({"a": 1})")};
  for (int i = 0; i < 500; ++i) {
    auto request = wholes[random() % wholes.size()];
    for (auto mutations = 1 + random() % 4; mutations > 0; --mutations) {
      const auto at = random() % request.size();
      switch (random() % 3) {
        case 0:
          request[at] = static_cast<char>(random());
          break;
        case 1:
          request.erase(at, 1 + random() % 8);
          break;
        default:
          request.insert(at, request.substr(random() % request.size(), random() % 16));
      }
      if (request.empty()) {
        break;
      }
    }
    const test::Connection connection(server.port());
    connection.send(request);
    connection.end();  // else the server waits for the rest
    connection.receive(20s);
  }
  expect_alive();
}

TEST_F(ServerTest, AThousandConnectionsAreAnswered) {
  std::vector<std::unique_ptr<test::Connection>> connections;
  for (int i = 0; i < 1000; ++i) {
    connections.push_back(std::make_unique<test::Connection>(server.port()));
    ASSERT_TRUE(connections.back()->is_connected()) << i;
    connections.back()->send(get("/" + std::to_string(i)));
  }
  for (std::size_t i = 0; i < connections.size(); ++i) {
    ASSERT_THAT(connections[i]->receive(20s), HasSubstr("GET /" + std::to_string(i) + " "));
  }
}

TEST_F(ServerTest, SlowRequestsAreEnded) {
  const test::Connection half(server.port());
  half.send("GET / HTTP/1.1\r\nHos");
  const test::Connection bodyless(server.port());
  bodyless.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{");
  const auto begin = std::chrono::steady_clock::now();
  half.receive(60s);
  bodyless.receive(60s);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST_F(ServerTest, ConnectionsStayOpenForFurtherRequests) {
  const test::Connection connection(server.port());
  const std::string two =
      "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody";
  connection.send(two + two.substr(0, 20));
  std::this_thread::sleep_for(100ms);
  connection.send(two.substr(20));
  connection.end();
  const auto answers = connection.receive(20s);
  const auto first = answers.find("GET /1 ");
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(answers.find("POST /2 body", first), std::string::npos);
  EXPECT_NE(answers.find("POST /2 body", answers.find("GET /1 ", first + 1)), std::string::npos);
}

/// Each request takes less than a second beside clients that send a byte now and then, or none at all.
TEST_F(ServerTest, TricklingClientsLeaveRoomForOthers) {
  std::vector<std::unique_ptr<test::Connection>> trickling;
  for (int i = 0; i < 400; ++i) {
    trickling.push_back(std::make_unique<test::Connection>(server.port()));
    const char* begin =
        i % 2 == 0 ? "GET / HTTP/1.1\r\nX: " : "POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\n";
    trickling.back()->send(begin);
  }
  for (int round = 0; round < 5; ++round) {
    for (const auto& connection : trickling) {
      connection->send("a");
    }
    const auto begin = std::chrono::steady_clock::now();
    expect_alive();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
  }
}

/// Clients that send requests and take no responses.
TEST_F(ServerTest, ClientsThatDoNotReadLeaveRoomForOthers) {
  std::vector<std::unique_ptr<test::Connection>> deaf;
  const auto request = post(std::string(max_body_bytes, 'x'));  // the response is as long
  for (int i = 0; i < 100; ++i) {
    deaf.push_back(std::make_unique<test::Connection>(server.port()));
    deaf.back()->send(request);
  }
  const auto begin = std::chrono::steady_clock::now();
  expect_alive();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
}

TEST_F(ServerTest, TellsThatAPortIsInUse) {
  EXPECT_THROW(HttpServer("127.0.0.1", server.port(), [](const Request&) { return Response{}; }),
               base::Failure);
}

TEST(Server, StopsEvenWhenToldBeforeItRuns) {
  HttpServer server("127.0.0.1", 0, [](const Request&) { return Response{}; });
  std::thread stopping([&] { server.stop(); });
  std::this_thread::sleep_for(50ms);
  server.run();
  stopping.join();
}

}  // namespace
}  // namespace gnomon::serve
