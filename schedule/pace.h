#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace gnomon::schedule {

/// How many trainings go by while a worker prepares a batch, from what the epoch has shown so far. The
/// device's step counts only what it was busy for: an epoch in which the device waits for workers that were
/// asked too late would else look slow enough for them.
class Pace {
 public:
  /// What was known before the epoch: 0 where nothing was. At first the device prepares all that it trains.
  Pace(double prepare_s, double copy_s, double device_prepare_s, double train_s)
      : prepare_s_{prepare_s}, copy_s_{copy_s}, train_s_{train_s}, step_s_{device_prepare_s + train_s} {}

  /// A worker took so long for a batch.
  void prepared(double seconds) { prepare_s_.add(seconds); }
  void copied(double seconds) { copy_s_.add(seconds); }
  /// The device was busy so long with preparing.
  void device_prepared(double seconds) { busy_s_ += seconds; }
  void trained(double seconds) {
    train_s_.add(seconds);
    step_s_.add(busy_s_ + seconds);
    busy_s_ = 0;
  }

  double copy_s() const { return copy_s_.value; }
  double train_s() const { return train_s_.value; }
  /// That the device is busy for each training: with it, and with preparing before it.
  double step_s() const { return step_s_.value; }

  /// Trainings until a batch that is claimed now is there. `epoch_s`: how long workers have been at their
  /// first batches, which is all there is to go by before one is done. `first_guess` is the answer before the
  /// first training.
  std::int64_t trainings_ahead(double epoch_s, std::int64_t first_guess) const {
    if (step_s_.value <= 0) {
      return first_guess;
    }
    const double prepare_s = std::max(prepare_s_.value, prepare_s_.count == 0 ? epoch_s : 0) + copy_s_.value;
    return 1 + static_cast<std::int64_t>(std::min(std::ceil(prepare_s / step_s_.value), most));
  }

 private:
  /// The mean of the first few, then of about the last sixteen.
  struct Mean {
    double value = 0;
    int count = 0;
    void add(double sample) {
      count = std::min(count + 1, 16);
      value += (sample - value) / count;
    }
  };
  static constexpr double most = 1 << 20;

  Mean prepare_s_;
  Mean copy_s_;
  Mean train_s_;
  Mean step_s_;
  double busy_s_ = 0;  ///< that the device has prepared since the last training
};

}  // namespace gnomon::schedule
