#include "serve/work.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/stop.h"
#include "base/usable.h"
#include "serve/run_view.h"
#include "tuner/tune.h"

namespace gnomon::serve {
namespace {

using base::Json;
using tuner::ExplorationRow;

constexpr int max_budget = 1000;

/// The positions of the rows in the order of the table.
Json order_of(const std::vector<ExplorationRow>& rows) {
  Json order = Json::array();
  for (const auto* row : tuner::sorted(rows, tuner::RowOrder::epoch)) {
    order.push_back(row - rows.data());
  }
  return order;
}

Json rows_document(const std::vector<ExplorationRow>& rows) {
  return {{"rows", tuner::flat_rows(rows)}, {"order", order_of(rows)}, {"timelines", Json::array()}};
}

/// The plans that are drawn and were predicted, simulated once more with their timelines.
std::vector<ExplorationRow> drawn_rows(const State& state, const std::vector<ExplorationRow>& rows) {
  auto request = request_of(state);
  request.with_timeline = true;
  request.plans.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].prediction && std::ranges::find(state.drawn, rows[i].plan.name) != state.drawn.end()) {
      request.plans.push_back(state.plans[i]);
    }
  }
  return request.plans.empty() ? std::vector<ExplorationRow>{} : tuner::explore(request, {});
}

Json explored(const State& state, const base::Progress& progress) {
  const auto rows = tuner::explore(request_of(state), progress);
  auto document = rows_document(rows);
  for (const auto& row : drawn_rows(state, rows)) {
    document["timelines"].push_back(tuner::timeline_document(row));
  }
  return document;
}

/// The timelines of the drawn plans as a Chrome trace.
Json traced(const State& state, const base::Progress& progress) {
  const auto rows = drawn_rows(state, tuner::explore(request_of(state), progress));
  std::string name = std::filesystem::temp_directory_path() / "gnomon-trace-XXXXXX";
  if (const int file = ::mkstemp(name.data()); file >= 0) {
    ::close(file);
  }
  schedule::write_trace(name, tuner::timelines_of(rows));
  auto text = base::read_file(name);
  std::filesystem::remove(name);
  return {{"trace", std::move(text)}};
}

Json tuned(const State& state, const Json& work, const base::Progress& progress) {
  std::vector<tuner::Setting> of_profile;
  std::ranges::copy_if(state.settings, std::back_inserter(of_profile),
                       [](const auto& setting) { return !setting.path.starts_with("plan."); });
  const auto request = request_of(state);
  const auto profile = tuner::changed_profile(request.profiles.front(), of_profile);
  tuner::TuningOptions options;
  options.seed = state.seed;
  options.processes = base::usable_cores();
  if (const auto found = work.find("budget"); found != work.end()) {
    options.budget.emplace();
    base::read_value(*found, options.budget->evaluations, "budget", {1, max_budget});
  }
  const auto tuning = tuner::tune(profile, options, {}, progress);
  return {{"plan", base::to_document(tuning.best().plan)}, {"tuning", tuner::to_document(tuning)}};
}

bool send_line(int socket, const Json& json) {
  const auto text = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const auto bytes = ::send(socket, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (bytes < 0 && errno != EINTR) {
      return false;
    }
    sent += static_cast<std::size_t>(std::max<ssize_t>(0, bytes));
  }
  return true;
}

/// Lines of text from a socket.
class Lines {
 public:
  explicit Lines(int socket) : socket_(socket) {}

  /// The next line, or nothing at the end. Throws Interrupted when `stop` is set.
  std::optional<std::string> next(const std::atomic<bool>* stop) {
    for (auto end = text_.find('\n');; end = text_.find('\n')) {
      if (end != std::string::npos) {
        auto line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return line;
      }
      if (!receive(stop)) {
        return std::nullopt;
      }
    }
  }

 private:
  bool receive(const std::atomic<bool>* stop) {
    pollfd file{socket_, POLLIN, 0};
    do {
      base::check_stop(stop);
    } while (::poll(&file, 1, 50) <= 0);
    char buffer[1 << 16];
    const auto bytes = ::recv(socket_, buffer, sizeof buffer, 0);
    if (bytes > 0) {
      text_.append(buffer, static_cast<std::size_t>(bytes));
    }
    return bytes > 0;
  }

  int socket_;
  std::string text_;
};

/// Reports a few times a second; throws Interrupted once the peer has disconnected.
base::Progress progress_to(int socket) {
  return [socket, last = std::chrono::steady_clock::time_point{}](std::string_view what, std::int64_t done,
                                                                  std::int64_t total) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (now - last < std::chrono::milliseconds(50)) {
      return;
    }
    last = now;
    if (!send_line(socket, {{"what", what}, {"done", done}, {"total", total}})) {
      throw base::Interrupted();
    }
  };
}

class Socket {
 public:
  explicit Socket(int file) : file_(file) {}
  ~Socket() { ::close(file_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int file() const { return file_; }

 private:
  int file_;
};

Json result_in(const Json& line) {
  if (const auto found = line.find("input_error"); found != line.end()) {
    throw base::InputError(found->get<std::string>());
  }
  if (const auto found = line.find("failure"); found != line.end()) {
    throw base::Failure(found->get<std::string>());
  }
  return line.at("result");
}

}  // namespace

Json computed_rows(const State& state) {
  auto request = request_of(state);
  request.quickly = true;
  return rows_document(tuner::explore(request, {}));
}

Json perform(const Json& work, const Offer& offer, const base::Progress& progress) {
  const auto kind = work.at("work").get<std::string>();
  if (kind == "run") {
    return predicted_run(offer.runs, work.at("run"), work.at("profile"));
  }
  const auto state = read_state(work.at("state"), offer);
  if (kind == "explore") {
    return explored(state, progress);
  }
  return kind == "trace" ? traced(state, progress) : tuned(state, work, progress);
}

base::ForkServer::Serve serve_work(Offer offer) {
  return [offer = std::move(offer)](int socket) {
    const auto asked = Lines(socket).next(nullptr);
    if (!asked) {
      return;
    }
    Json answer;
    try {
      answer["result"] = perform(Json::parse(*asked), offer, progress_to(socket));
    } catch (const base::InputError& error) {
      answer["input_error"] = error.what();
    } catch (const base::Interrupted&) {
      return;
    } catch (const std::exception& error) {
      answer["failure"] = error.what();
    }
    send_line(socket, answer);
  };
}

Perform perform_apart(const base::ForkServer& server) {
  return [&server](const Json& work, const base::Progress& progress, const std::atomic<bool>* stop) {
    const Socket socket(server.open());
    send_line(socket.file(), work);
    Lines lines(socket.file());
    while (const auto line = lines.next(stop)) {
      const auto json = Json::parse(*line);
      if (!json.contains("what")) {
        return result_in(json);
      }
      base::report(progress, json["what"].get<std::string>(), json["done"], json["total"]);
    }
    throw base::Failure("the process that predicts ended early");
  };
}

}  // namespace gnomon::serve
