#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "serve/http/server.h"
#include "tests/fixtures/connection.h"
#include "tests/random_seed.h"
#include "tests/serve/small_site.h"

namespace gnomon::serve {
namespace {

using namespace std::chrono_literals;
using base::Json;

/// Makes requests that are nearly right.
class Requests {
 public:
  Requests(const SmallSite& site, std::uint64_t seed) : random_(seed) {
    const auto state = site.state();
    bodies_ = {{"/api/profile", state},
               {"/api/compute", state},
               {"/api/explore", state},
               {"/api/csv", state},
               {"/api/trace", state},
               {"/api/tune", {{"state", state}, {"budget", 2}}},
               {"/api/tuning", {{"number", 1}, {"cancel", true}}},
               {"/api/run", {{"run", "no"}}},
               {"/api/predicted", {{"run", "no"}, {"profile", site.profile}}}};
    for (auto& [path, body] : bodies_) {
      if (body.contains("plans")) {
        body["settings"] = {{"machine.cpu.cores", 2}, {"plan.cpu_buffer", 4}};
        body["machine"] = "aws-g5.2xlarge";
        body["seed"] = 1;
      }
    }
  }

  std::size_t below(std::size_t count) { return random_() % count; }

  /// A request whose framing is right, so that it has an answer.
  std::string framed() {
    if (below(8) == 0) {
      return "GET /" + std::string(below(2) * below(9000), 'a') + " HTTP/1.1\r\n" + headers() + "\r\n";
    }
    auto [path, body] = bodies_[below(bodies_.size())];
    for (auto changes = below(4); changes > 0; --changes) {
      change(body);
    }
    auto text = body.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (below(8) == 0) {
      text = mangled(text);
    }
    return "POST " + path + " HTTP/1.1\r\n" + headers() +
           "Content-Type: application/json\r\nContent-Length: " + std::to_string(text.size()) + "\r\n\r\n" +
           text;
  }

  /// Bytes changed, removed and repeated.
  std::string mangled(std::string text) {
    for (auto changes = 1 + below(4); changes > 0 && !text.empty(); --changes) {
      const auto at = below(text.size());
      switch (below(3)) {
        case 0:
          text[at] = static_cast<char>(random_());
          break;
        case 1:
          text.erase(at, 1 + below(8));
          break;
        default:
          text.insert(at, text.substr(below(text.size()), below(16)));
      }
    }
    return text;
  }

 private:
  std::string headers() {
    std::string text = "Host: 127.0.0.1:1\r\n";
    switch (below(12)) {
      case 0:
        return text + "Connection: close\r\n";
      case 1:
        return text + "X: " + std::string(below(9000), 'x') + "\r\n";
      case 2:
        return text + "Range: bytes=" + std::to_string(random_()) + "-5,3-,-1\r\n";
      case 3:
        return text + "Expect: 100-continue\r\n";
      case 4:
        return text + "Accept-Encoding: gzip, br\r\n";
      case 5:
        return "Host: elsewhere\r\n";
      default:
        return text;
    }
  }

  /// Puts something else in the place of one value, or removes it.
  void change(Json& value) {
    if (value.is_structured() && !value.empty() && below(4) != 0) {
      auto at = value.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(below(value.size())));
      if (below(6) == 0) {
        value.erase(at);
      } else {
        change(*at);
      }
      return;
    }
    static const std::vector<Json> strange = {nullptr,
                                              true,
                                              -1,
                                              0,
                                              1e308,
                                              -1e-308,
                                              1u << 31,
                                              INT64_MIN,
                                              "",
                                              "\xff",
                                              std::string(5000, '['),
                                              Json::array(),
                                              Json::object(),
                                              {{"a", {{"b", {}}}}},
                                              "../../p.json",
                                              "machine.cpu",
                                              {"device", "device", 3},
                                              0.5,
                                              1e9,
                                              "all",
                                              "aws-g5.2xlarge"};
    value = strange[below(strange.size())];
  }

  std::mt19937_64 random_;
  std::vector<std::pair<std::string, Json>> bodies_;
};

/// A client that behaves in many ways, until it is time to stop.
class Client {
 public:
  Client(const SmallSite& site, int port, std::uint64_t seed) : requests_(site, seed), port_(port) {}

  void run(std::chrono::steady_clock::time_point end) {
    while (std::chrono::steady_clock::now() < end) {
      const test::Connection connection(port_);
      switch (requests_.below(4)) {
        case 0:
          abandon(connection);
          break;
        case 1:
          connection.send(requests_.mangled(requests_.framed()));
          connection.end();
          connection.receive(20s);
          break;
        default:
          ask(connection);
      }
      ++requests;
    }
  }

  std::int64_t requests = 0;
  std::int64_t answers = 0;
  std::vector<std::string> wrong;  ///< requests, with answers that should not be

 private:
  /// Sends a part of a request, and goes without taking the answer.
  void abandon(const test::Connection& connection) {
    auto request = requests_.framed();
    request.resize(requests_.below(request.size() + 1));
    connection.send(request);
  }

  /// Whole requests in pieces, to which answers come.
  void ask(const test::Connection& connection) {
    const auto request = requests_.framed();
    std::string_view rest = request;
    while (!rest.empty()) {
      const auto count = std::min<std::size_t>(rest.size(), 1 + requests_.below(1 + rest.size()));
      connection.send(rest.substr(0, count));
      rest.remove_prefix(count);
      if (requests_.below(16) == 0) {
        std::this_thread::sleep_for(2ms);
      }
    }
    connection.end();
    const auto answer = connection.receive(60s);
    answers += answer.starts_with("HTTP/1.1 ") ? 1 : 0;
    const bool is_expected = answer.starts_with("HTTP/1.1 2") || answer.starts_with("HTTP/1.1 4") ||
                             answer.starts_with("HTTP/1.1 100 Continue");
    if (!is_expected) {
      wrong.push_back(request.substr(0, 2000) + "\n=> " + answer.substr(0, 500));
    }
  }

  Requests requests_;
  int port_;
};

/// TCP sockets of this process, the listening one included. Searches that go on hold pipes and files.
int open_sockets() {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    const int number = std::stoi(file.path().filename().string());
    const bool is_socket = ::getsockname(number, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    count += is_socket && address.ss_family == AF_INET ? 1 : 0;
  }
  return count;
}

/// The duration: GNOMON_FUZZ_SECONDS, or two seconds.
std::chrono::seconds duration() {
  const char* value = std::getenv("GNOMON_FUZZ_SECONDS");
  return std::chrono::seconds(value == nullptr ? 2 : std::strtoll(value, nullptr, 10));
}

TEST(Fuzz, NoRequestCrashesTheServerOrGoesUnanswered) {
  SmallSite site;
  HttpServer server("127.0.0.1", 0, [&](const Request& request) { return site.site->answer(request); });
  std::thread running([&] { server.run(); });
  const test::RandomSeed seed;
  const int sockets = open_sockets();
  const auto end = std::chrono::steady_clock::now() + duration();
  std::vector<Client> clients;
  for (std::uint64_t i = 0; i < 4; ++i) {
    clients.emplace_back(site, server.port(), seed + i);
  }
  std::vector<std::thread> threads;
  for (auto& client : clients) {
    threads.emplace_back([&] { client.run(end); });
  }
  std::int64_t answers = 0;
  std::int64_t requests = 0;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    threads[i].join();
    answers += clients[i].answers;
    requests += clients[i].requests;
    for (const auto& wrong : clients[i].wrong) {
      ADD_FAILURE() << wrong;
    }
  }
  std::cout << requests << " requests, " << answers << " answers to whole ones\n";
  EXPECT_GT(answers, 0);
  const auto late = std::chrono::steady_clock::now() + 15s;
  while (open_sockets() > sockets && std::chrono::steady_clock::now() < late) {
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_EQ(open_sockets(), sockets) << "connections stay open";
  server.stop();
  running.join();
}

}  // namespace
}  // namespace gnomon::serve
