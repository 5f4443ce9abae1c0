#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "serve/work.h"

namespace gnomon::serve {

/// The searches that pages have started. Any thread may call it.
class Tunings {
 public:
  explicit Tunings(Perform perform) : perform_(std::move(perform)) {}
  /// Cancels all.
  ~Tunings();
  Tunings(const Tunings&) = delete;
  Tunings& operator=(const Tunings&) = delete;

  /// Starts a search and returns its number; none if the maximum number is running.
  std::optional<std::int64_t> start(base::Json work);
  /// {"status": "running" | "done" | "cancelled" | "failed", "what", "done", "total", "result" | "error"}, or
  /// null if there is none of that number.
  base::Json look(std::int64_t number);
  /// Returns whether there is one of that number.
  bool cancel(std::int64_t number);

 private:
  struct Tuning {
    base::Json status = base::Json::object();
    std::atomic<bool> stop{false};
    std::thread thread;
  };
  void run(Tuning& tuning, const base::Json& work);
  void forget_oldest();

  Perform perform_;
  std::mutex mutex_;  ///< guards what follows and each status
  std::int64_t last_ = 0;
  std::map<std::int64_t, std::unique_ptr<Tuning>> all_;
};

}  // namespace gnomon::serve
