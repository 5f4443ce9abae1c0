#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "python/c_api/batch_maker.h"
#include "python/c_api/gnomon.h"
#include "python/c_api/loader.h"

namespace gnomon::c_api {

/// Prepares the batches of an epoch ahead, on threads of its own, and hands them out in order.
class Epoch {
 public:
  /// Throws InputError, naming the field, for invalid input; seeds are checked when their batch is prepared.
  /// Throws Failure if threads cannot be started.
  Epoch(std::shared_ptr<Loader> loader, const gnomon_epoch_input& input);
  /// Stops and joins the threads. Must not be called in a forked child, where the threads do not exist.
  ~Epoch();
  Epoch(const Epoch&) = delete;
  Epoch& operator=(const Epoch&) = delete;

  enum class Next : std::uint8_t { batch, pending, end };
  /// Waits for the next batch and sets `index` to its position in the epoch. Rethrows an exception of its
  /// preparation, which ends the epoch. One caller at a time.
  Next next(std::chrono::duration<double> timeout, Batch& batch, std::int64_t& index);

  const OwnProcess& process() const { return loader_->process(); }

 private:
  /// The result of one preparation.
  struct Slot {
    bool ready = false;
    Batch batch;
    std::exception_ptr error;
  };

  void work(BatchMaker& maker);
  Slot prepare(BatchMaker& maker, std::int64_t index) const;
  Next deliver(Slot slot, Batch& batch, std::int64_t& index);
  Slot& slot_of(std::int64_t index) { return slots_[static_cast<std::size_t>(index) % slots_.size()]; }
  void stop();

  std::shared_ptr<Loader> loader_;
  gnomon_epoch_input input_;
  std::vector<Loader::NumberedMaker> makers_;  ///< one per thread; one if there are none
  std::mutex mutex_;
  std::condition_variable room_;   ///< a batch was taken, or the epoch was stopped
  std::condition_variable ready_;  ///< the next batch is ready
  std::vector<Slot> slots_;        ///< batch b is in slot b modulo the number of slots
  std::int64_t next_prepared_ = 0;
  std::int64_t next_taken_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gnomon::c_api
