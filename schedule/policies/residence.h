#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/epoch.h"

namespace gnomon::schedule {

/// The outer loop of macro-batches (MariusGNN, HANOI, JOESTAR): which part of the graph is resident, and
/// whether the next batch may be drawn from it. The part after it is prepared meanwhile (double buffering).
/// When the batches of a part are used up and the next part is late, they may be used again, plan().macro
/// .passes times in all. Without macro-batches everything is always resident.
class Residence {
 public:
  explicit Residence(Epoch& epoch);

  /// Whether `batch`, the next one in order, may begin now; counts it when it may.
  bool admits(std::int64_t batch);
  /// What a batch that was not admitted waits for.
  Ticket next() const { return *next_; }
  /// Whether a batch would have to wait now.
  bool is_late() const;

 private:
  void prepare_next();
  bool open_next();

  Epoch& epoch_;
  bool is_used_ = false;
  std::int64_t part_batches_ = 0;  ///< in one pass over what is resident
  std::int64_t left_ = 0;          ///< of this pass
  int passes_ = 0;
  std::int64_t groups_ = 0;     ///< whose preparation was started
  std::optional<Ticket> next_;  ///< the end of the next part's preparation
};

}  // namespace gnomon::schedule
