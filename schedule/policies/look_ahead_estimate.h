#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace gnomon::schedule {

/// Estimates the look-ahead of claim-ahead: the number of trainings that pass while a worker prepares a
/// batch, given the stage times so far. A device step counts only busy time. With idle time included, an
/// epoch in which the device waits for workers that claimed too late would appear to give the workers enough
/// time.
class LookAheadEstimate {
 public:
  /// Takes the expected stage times in seconds, 0 if unknown. Initially the device is assumed to prepare
  /// every batch that it trains.
  LookAheadEstimate(double cpu_batch_s, double transfer_s, double device_batch_s, double train_s)
      : cpu_batch_s_{cpu_batch_s},
        transfer_s_{transfer_s},
        train_s_{train_s},
        step_s_{device_batch_s + train_s} {}

  /// Record the duration of a finished stage.
  void add_cpu_batch(double seconds) { cpu_batch_s_.add(seconds); }
  void add_transfer(double seconds) { transfer_s_.add(seconds); }
  void add_device_batch(double seconds) { device_batch_s_ += seconds; }
  void add_training(double seconds) {
    train_s_.add(seconds);
    step_s_.add(device_batch_s_ + seconds);
    device_batch_s_ = 0;
  }

  double transfer_s() const { return transfer_s_.value; }
  double train_s() const { return train_s_.value; }
  /// The device's busy time per training: the training and the device_batches before it.
  double step_s() const { return step_s_.value; }

  /// Returns the number of trainings until a batch that is claimed now is on the device. `elapsed_s` is the
  /// time since the workers' first claims; before the first batch is finished, it is a lower bound of the
  /// cpu_batch time. Returns `first_guess` as long as no step time is known.
  std::int64_t look_ahead(double elapsed_s, std::int64_t first_guess) const {
    if (step_s_.value <= 0) {
      return first_guess;
    }
    const double lower_bound_s = cpu_batch_s_.count == 0 ? elapsed_s : 0;
    const double ready_s = std::max(cpu_batch_s_.value, lower_bound_s) + transfer_s_.value;
    return 1 + static_cast<std::int64_t>(std::min(std::ceil(ready_s / step_s_.value), max_steps));
  }

 private:
  /// The arithmetic mean of up to sixteen samples, then an exponential moving average with factor 1/16.
  struct Mean {
    double value = 0;
    int count = 0;
    void add(double sample) {
      count = std::min(count + 1, 16);
      value += (sample - value) / count;
    }
  };
  static constexpr double max_steps = 1 << 20;

  Mean cpu_batch_s_;
  Mean transfer_s_;
  Mean train_s_;
  Mean step_s_;
  double device_batch_s_ = 0;  ///< device_batch time since the last training
};

}  // namespace gnomon::schedule
