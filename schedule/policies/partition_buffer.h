#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "schedule/epoch.h"

namespace gnomon::schedule {

/// The outer loop of macro-batches (MariusGNN, Hanoi, Joestar): mini-batches are drawn from the resident
/// macro-batch, some parts of the graph, while the next one is loaded (double buffering). If the mini-batches
/// of the resident one are used up before the next one is there, its vertices are trained again in another
/// pass, up to plan().macro.passes in all; a pass that has begun is completed. An epoch loads every
/// macro-batch once, so further passes add mini-batches to it. Without macro-batches, the whole graph is
/// always resident.
class PartitionBuffer {
 public:
  explicit PartitionBuffer(Epoch& epoch);

  /// Whether all mini-batches of the epoch have been admitted.
  bool finished() const;
  /// The number of mini-batches admitted so far, which is the position of the next one.
  std::int64_t admitted() const { return admitted_; }
  /// Returns the stages that may still read the data of earlier positions.
  using Readers = std::function<std::vector<Ticket>()>;
  /// Admits the next position; returns false if it has to wait for next_load(). When a macro-batch is opened,
  /// the one after it is loaded behind `readers`, so that two are in memory at most. Precondition: not
  /// finished().
  bool admit(const Readers& readers);
  /// The loading that a position which was not admitted waits for.
  Ticket next_load() const { return *next_load_; }
  /// Whether the last position was not admitted. That next_load() may have ended since then does not count:
  /// a policy that then waited for nothing would wait forever.
  bool is_blocked() const { return is_blocked_; }
  /// The first position of the macro-batch that an admitted position belongs to.
  std::int64_t begin_of(std::int64_t position) const;

 private:
  void load_next(std::span<const Ticket> readers);
  bool open_next(const Readers& readers);
  bool begin_pass();
  bool may_pass_again() const;

  Epoch& epoch_;
  bool is_used_ = false;
  bool is_blocked_ = false;
  std::vector<std::int64_t> sizes_;  ///< mini-batches of one pass over each macro-batch
  std::int64_t admitted_ = 0;
  std::int64_t opened_ = 0;  ///< macro-batches that are or have been resident
  std::int64_t loads_ = 0;   ///< started so far
  std::int64_t left_ = 0;    ///< mini-batches of this pass
  std::int64_t index_ = 0;   ///< of the next mini-batch in the list that is trained
  int pass_ = 0;             ///< over the resident macro-batch, counted from 0
  std::optional<Ticket> next_load_;
  std::vector<std::int64_t> begins_;  ///< the first position of each opened macro-batch
};

}  // namespace gnomon::schedule
