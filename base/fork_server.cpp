#include "base/fork_server.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/error.h"

namespace gnomon::base {
namespace {

/// A message of one byte that carries a file descriptor.
struct Parcel {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};

  Parcel() {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
};

bool send_descriptor(int socket, int descriptor) {
  Parcel parcel;
  auto* header = CMSG_FIRSTHDR(&parcel.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  return ::sendmsg(socket, &parcel.message, MSG_NOSIGNAL) == 1;
}

/// Returns -1 when the other end is closed.
int receive_descriptor(int socket) {
  Parcel parcel;
  ssize_t received = -1;
  do {
    received = ::recvmsg(socket, &parcel.message, MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  const auto* header = received == 1 ? CMSG_FIRSTHDR(&parcel.message) : nullptr;
  int descriptor = -1;
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  }
  return descriptor;
}

/// The process of one request.
[[noreturn]] void serve_one(int control, int socket, const ForkServer::Serve& serve) {
  ::close(control);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGCHLD, SIG_DFL);  // the work may wait for its own children
  int code = 0;
  try {
    serve(socket);
  } catch (...) {
    code = 1;  // the peer sees the closed socket
  }
  ::_exit(code);
}

/// Forks a process for each descriptor until the other end is closed.
[[noreturn]] void serve_all(int control, const ForkServer::Serve& serve) {
  std::signal(SIGINT, SIG_IGN);  // the program handles Ctrl-C and closes its end
  std::signal(SIGTERM, SIG_IGN);
  std::signal(SIGCHLD, SIG_IGN);  // no zombies
  for (int socket = receive_descriptor(control); socket >= 0; socket = receive_descriptor(control)) {
    if (::fork() == 0) {
      serve_one(control, socket, serve);
    }
    ::close(socket);  // a failed fork shows as a closed socket
  }
  ::_exit(0);
}

}  // namespace

ForkServer::ForkServer(const Serve& serve) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Failure("socketpair", std::strerror(errno));
  }
  process_ = ::fork();
  if (process_ == 0) {
    ::close(ends[0]);
    serve_all(ends[1], serve);
  }
  ::close(ends[1]);
  control_ = ends[0];
  if (process_ < 0) {
    ::close(control_);
    throw Failure("fork", std::strerror(errno));
  }
}

ForkServer::~ForkServer() {
  ::close(control_);
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

int ForkServer::open() const {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Failure("socketpair", std::strerror(errno));
  }
  const bool sent = send_descriptor(control_, ends[1]);
  const int reason = errno;
  ::close(ends[1]);
  if (!sent) {
    ::close(ends[0]);
    throw Failure("process that predicts", std::strerror(reason));
  }
  return ends[0];
}

}  // namespace gnomon::base
