#pragma once

#include <chrono>

namespace gnomon::runtime {

/// Decides when a training saves a checkpoint.
class SaveClock {
 public:
  /// The maximum time between checkpoints in seconds.
  explicit SaveClock(double every_s) : every_s_(every_s) {}

  bool is_due() const { return seconds_since(last_) >= every_s_; }
  /// Whether the last one is old enough for another before an evaluation, which may fail.
  bool is_worth_it() const { return seconds_since(last_) >= min_age_s; }
  /// Whether one more keeps saving at the ends of epochs to a small share of the time.
  bool is_cheap() const { return cost_s_ <= max_share * seconds_since(last_); }

  /// Calls save() and measures it.
  template <class Save>
  void time(const Save& save) {
    const auto begin = Clock::now();
    save();
    last_ = Clock::now();
    cost_s_ = seconds_since(begin);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double min_age_s = 1;
  static constexpr double max_share = 0.05;

  static double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  double every_s_;
  double cost_s_ = 0;  ///< of the last save
  Clock::time_point last_ = Clock::now();
};

}  // namespace gnomon::runtime
