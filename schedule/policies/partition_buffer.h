#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/epoch.h"

namespace gnomon::schedule {

/// The outer loop of macro-batches (MariusGNN, HANOI, JOESTAR): a set of partitions of the graph is resident,
/// and batches are drawn from it while the next set is loaded (double buffering). If the batches of a
/// resident set are used up before the next set is ready, the set may be passed over again,
/// plan().macro.passes times in all. Without macro-batches, the whole graph is always resident.
class PartitionBuffer {
 public:
  explicit PartitionBuffer(Epoch& epoch);

  /// Whether `batch`, the next one in order, may begin now. Counts the batch if so.
  bool admit(std::int64_t batch);
  /// The load that a batch which was not admitted waits for.
  Ticket next_load() const { return *next_load_; }
  /// Whether the next batch has to wait for next_load().
  bool is_blocked() const;

 private:
  void load_next();
  bool swap_in_next();

  Epoch& epoch_;
  bool is_used_ = false;
  std::int64_t batches_per_pass_ = 0;
  std::int64_t batches_left_ = 0;  ///< in this pass
  int passes_ = 0;                 ///< over the resident set, the current one included
  std::int64_t num_loads_ = 0;     ///< started so far
  std::optional<Ticket> next_load_;
};

}  // namespace gnomon::schedule
