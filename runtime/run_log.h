#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "runtime/trainer.h"

namespace gnomon::runtime {

/// The two logs of a run directory, one JSON line an epoch: log.jsonl (loss, accuracies, times) and
/// order.jsonl
/// ({"epoch": 0, "order": [batches in the order of their updates]}).
class RunLog {
 public:
  /// Keeps the lines of the epochs before `first_epoch` and drops the others, and what a killed run left half
  /// written. Throws base::Failure.
  RunLog(const std::filesystem::path& directory, std::int64_t first_epoch);
  /// Adds the epoch's line to both and flushes them to the disk. Throws base::Failure.
  void append(const EpochReport& report);

 private:
  std::filesystem::path log_;
  std::filesystem::path order_;
};

/// The update orders in an order.jsonl, epoch by epoch. Throws base::InputError, naming the line.
std::vector<std::vector<std::int64_t>> read_orders(const std::filesystem::path& path);

}  // namespace gnomon::runtime
