#include "serve/http/connections.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>

#include "base/error.h"

namespace gnomon::serve {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 16;
constexpr std::chrono::milliseconds between_looks{50};
constexpr std::chrono::milliseconds drain_time{2000};
constexpr std::chrono::milliseconds farewell_time{2000};  ///< for writing the last responses after finish()

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

Connections::Connections(Answer answer, ConnectionLimits limits)
    : answer_(std::move(answer)),
      limits_(limits),
      poll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (poll_ < 0 || wake_ < 0) {
    ::close(poll_);
    ::close(wake_);
    throw base::Failure("the server", "has no file descriptors left");
  }
  epoll_event event{.events = EPOLLIN, .data = {.u64 = 0}};
  ::epoll_ctl(poll_, EPOLL_CTL_ADD, wake_, &event);
  try {
    loop_ = std::thread([this] { run(); });
    for (std::size_t i = 0; i < limits_.threads; ++i) {
      workers_.emplace_back([this] { work(); });
    }
  } catch (const std::exception& error) {
    close();
    throw base::Failure("the server", std::string("cannot start threads: ") + error.what());
  }
}

Connections::~Connections() { close(); }

void Connections::close() {
  finish();
  ::close(poll_);
  ::close(wake_);
}

void Connections::wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
}

void Connections::add(int socket) {
  {
    const std::lock_guard lock(mutex_);
    if (is_finishing_) {
      ::close(socket);
      return;
    }
    added_.push_back(socket);
  }
  wake();
}

void Connections::finish() {
  {
    const std::lock_guard lock(mutex_);
    is_finishing_ = true;
  }
  asked_.notify_all();
  for (auto& worker : workers_) {
    worker.join();
  }
  workers_.clear();
  is_over_ = true;
  wake();
  if (loop_.joinable()) {
    loop_.join();
  }
}

void Connections::work() {
  while (true) {
    Asked asked;
    {
      std::unique_lock lock(mutex_);
      asked_.wait(lock, [this] { return !requests_.empty() || is_finishing_; });
      if (requests_.empty()) {
        return;
      }
      asked = std::move(requests_.front());
      requests_.pop_front();
    }
    Reply reply{{}, true};
    try {
      reply = answer_(asked.request, asked.is_last);
    } catch (const std::exception&) {  // for instance out of memory: the connection is closed
    }
    {
      const std::lock_guard lock(mutex_);
      replies_.emplace_back(asked.id, std::move(reply));
    }
    wake();
  }
}

void Connections::run() {
  auto end = Clock::time_point::max();
  while (!connections_.empty() || !is_over_) {
    std::array<epoll_event, 256> events;
    const int count =
        ::epoll_wait(poll_, events.data(), events.size(), static_cast<int>(between_looks.count()));
    for (int i = 0; i < count; ++i) {
      handle(events[static_cast<std::size_t>(i)].data.u64);
    }
    const bool is_over = is_over_;  // before the last replies are taken
    take_news();
    end_late_ones();
    if (is_over) {
      end = std::min(end, Clock::now() + farewell_time);
      close_if([&](const Connection& one) { return one.state != State::writing || Clock::now() > end; });
    }
  }
}

/// Takes the sockets and replies that other threads have queued.
void Connections::take_news() {
  std::vector<int> added;
  std::vector<std::pair<Id, Reply>> replies;
  {
    const std::lock_guard lock(mutex_);
    added.swap(added_);
    replies.swap(replies_);
  }
  std::ranges::for_each(added, [this](int socket) { take_over(socket); });
  for (auto& [id, reply] : replies) {
    const auto found = connections_.find(id);
    if (found != connections_.end()) {
      Connection& connection = found->second;
      connection.state = State::writing;
      connection.out = std::move(reply.bytes);
      connection.written = 0;
      connection.is_last = reply.is_last;
      connection.deadline = Clock::now() + limits_.response;
      write(id, connection);
    }
  }
}

void Connections::take_over(int socket) {
  ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
  const int yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  const Id id = next_++;
  Connection& connection = connections_[id];
  connection.socket = socket;
  connection.deadline = Clock::now() + limits_.idle;
  watch(id, connection, EPOLLIN);
  make_room();
}

void Connections::watch(Id id, const Connection& connection, std::uint32_t events) const {
  epoll_event event{.events = events, .data = {.u64 = id}};
  if (::epoll_ctl(poll_, EPOLL_CTL_MOD, connection.socket, &event) != 0) {
    ::epoll_ctl(poll_, EPOLL_CTL_ADD, connection.socket, &event);
  }
}

void Connections::handle(Id id) {
  if (id == 0) {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto taken = ::read(wake_, &count, sizeof count);
    return;
  }
  const auto found = connections_.find(id);
  if (found == connections_.end()) {
    return;
  }
  switch (found->second.state) {
    case State::reading:
      return read(id, found->second);
    case State::writing:
      return write(id, found->second);
    case State::draining:
      return drain(id, found->second);
    case State::answering:
      return;
  }
}

void Connections::read(Id id, Connection& connection) {
  std::array<char, chunk_bytes> chunk;
  const auto received = ::recv(connection.socket, chunk.data(), chunk.size(), 0);
  if (received <= 0) {
    if (received == 0 || !would_block()) {
      close(id);
    }
    return;
  }
  if (connection.in.empty()) {
    connection.deadline = Clock::now() + limits_.request;
  }
  connection.in.append(chunk.data(), static_cast<std::size_t>(received));
  held_bytes_ += static_cast<std::size_t>(received);
  hand_over_if_whole(id, connection);
  make_room();
}

void Connections::hand_over_if_whole(Id id, Connection& connection) {
  const Frame frame = connection.framing.frame(connection.in);
  if (!frame.is_whole) {
    return;
  }
  connection.state = State::answering;
  ::epoll_ctl(poll_, EPOLL_CTL_DEL, connection.socket,
              nullptr);  // otherwise a client that disconnects would wake this thread in a busy loop
  Asked asked{id, connection.in.substr(0, frame.bytes), frame.is_last};
  connection.in.erase(0, frame.bytes);
  connection.framing = {};
  held_bytes_ -= frame.bytes;
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(asked));
  }
  asked_.notify_one();
}

void Connections::write(Id id, Connection& connection) {
  while (connection.written < connection.out.size()) {
    const auto sent = ::send(connection.socket, connection.out.data() + connection.written,
                             connection.out.size() - connection.written, MSG_NOSIGNAL);
    if (sent < 0) {
      return would_block() ? watch(id, connection, EPOLLOUT) : close(id);
    }
    connection.written += static_cast<std::size_t>(sent);
  }
  go_on(id, connection);
}

/// Continues after a response: closes the connection, or handles its next request.
void Connections::go_on(Id id, Connection& connection) {
  connection.out = {};
  watch(id, connection, EPOLLIN);
  if (connection.is_last) {
    ::shutdown(connection.socket, SHUT_WR);
    connection.state = State::draining;
    connection.deadline = Clock::now() + drain_time;
    return;
  }
  connection.state = State::reading;
  connection.deadline = Clock::now() + (connection.in.empty() ? limits_.idle : limits_.request);
  hand_over_if_whole(id, connection);
}

void Connections::drain(Id id, Connection& connection) {
  std::array<char, chunk_bytes> chunk;
  const auto received = ::recv(connection.socket, chunk.data(), chunk.size(), 0);
  if (received == 0 || (received < 0 && !would_block())) {
    close(id);
  }
}

void Connections::end_late_ones() {
  const auto now = Clock::now();
  if (now >= next_look_) {
    next_look_ = now + between_looks;
    close_if([&](const Connection& one) { return one.state != State::answering && one.deadline < now; });
  }
}

template <class Predicate>
void Connections::close_if(const Predicate& is_to_close) {
  for (auto next = connections_.begin(); next != connections_.end();) {
    const auto& [id, connection] = *next++;
    if (is_to_close(connection)) {
      close(id);
    }
  }
}

/// Closes idle connections, the oldest first; if all requests are being answered, the newest connection.
void Connections::make_room() {
  while (connections_.size() > limits_.connections || held_bytes_ > limits_.bytes) {
    const auto oldest = std::ranges::find_if(
        connections_, [](const auto& entry) { return entry.second.state != State::answering; });
    close(oldest == connections_.end() ? connections_.rbegin()->first : oldest->first);
  }
}

void Connections::close(Id id) {
  const auto found = connections_.find(id);
  ::close(found->second.socket);  // this also removes it from the epoll set
  held_bytes_ -= found->second.in.size();
  connections_.erase(found);
}

}  // namespace gnomon::serve
