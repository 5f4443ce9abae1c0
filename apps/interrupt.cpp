#include "apps/interrupt.h"

#include <csignal>

namespace gnomon::apps {
namespace {

/// A static, because a signal handler has no user arguments.
std::atomic<bool>& flag() {
  static std::atomic<bool> stop{false};
  return stop;
}
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

}  // namespace

const std::atomic<bool>& stop_on_interrupt() {
  flag() = false;  // also constructs it before a handler can run
  struct sigaction action {};
  action.sa_handler = [](int) { flag() = true; };
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  return flag();
}

}  // namespace gnomon::apps
