#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <utility>

namespace gnomon::runtime {

/// Work in the order in which it was started, done when wait() is called.
class HostStream {
 public:
  HostStream() = default;
  HostStream(const HostStream&) = delete;
  HostStream& operator=(const HostStream&) = delete;
  ~HostStream() { wait(); }

  void start(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    is_idle_ = false;
  }
  /// Does something in the order of the work, for which nobody has to wait.
  void then(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
  }
  void wait() {
    while (do_next()) {
    }
  }
  /// Does what comes before `is_over` becomes true.
  template <class Condition>
  void wait_until(const Condition& is_over) {
    while (!is_over()) {
      do_next();
    }
    const std::lock_guard lock(mutex_);
    is_idle_ = is_idle_ || work_.empty();
  }
  bool is_idle() {
    const std::lock_guard lock(mutex_);
    return is_idle_;
  }

 private:
  /// In order, whoever waits: another stream may.
  bool do_next() {
    const std::lock_guard lock(doing_);
    const auto next = take();
    if (next) {
      next();
    }
    return static_cast<bool>(next);
  }
  std::function<void()> take() {
    const std::lock_guard lock(mutex_);
    if (work_.empty()) {
      is_idle_ = true;
      return {};
    }
    auto next = std::move(work_.front());
    work_.pop_front();
    return next;
  }

  std::recursive_mutex doing_;  ///< work that waits for another stream's
  std::mutex mutex_;
  std::deque<std::function<void()>> work_;
  bool is_idle_ = true;
};

}  // namespace gnomon::runtime
