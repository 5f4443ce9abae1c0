#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "runtime/training/trainer.h"

namespace gnomon::runtime {

/// The two logs of a run directory with one JSON line per epoch: log.jsonl (loss, accuracies, times) and
/// order.jsonl ({"epoch": 1, "order": [batches in the order of their updates]}, and "hot", the number of hot
/// vertices of each super-batch, where embeddings of hot vertices are reused). Both count epochs from 1. Logs
/// of earlier versions, which count from 0, can be read, too.
class RunLog {
 public:
  /// Keeps the lines of the first `finished` epochs, counted from 1. Drops all others, and a line that a
  /// killed run left incomplete. Throws base::Failure.
  RunLog(const std::filesystem::path& directory, std::int64_t finished);
  /// Appends the epoch's line to both logs. Throws base::Failure.
  void append(const EpochReport& report);
  /// Flushes both logs to disk (fsync). Throws base::Failure.
  void flush() const;

 private:
  std::filesystem::path log_;
  std::filesystem::path order_;
};

/// Reads the numbers of hot vertices by epoch and super-batch from an order.jsonl; empty if it has none.
/// Throws base::InputError that names the line.
std::vector<std::vector<std::int64_t>> read_hot_counts(const std::filesystem::path& path);

/// Reads the update order of each epoch from an order.jsonl. Throws base::InputError that names the line.
std::vector<std::vector<std::int64_t>> read_orders(const std::filesystem::path& path);

}  // namespace gnomon::runtime
