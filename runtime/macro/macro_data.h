#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/macro/macro_loader.h"

namespace gnomon::runtime {

/// The macro-batches of a training: those of an epoch, and the ones in memory. The positions of an epoch, or
/// of what is left of one, are divided into groups, one for each macro-batch, in their order.
class MacroData {
 public:
  /// Called once, on a stage's thread, with the first macro-batch when it has been loaded. What it throws
  /// ends the epoch.
  using OnFirst = std::function<void(MacroBatch& first)>;

  MacroData(std::unique_ptr<MacroLoader> loader, plan::Job job, const plan::Plan& plan, OnFirst on_first);

  /// The layout of an epoch; the last one that was asked for is kept.
  std::shared_ptr<const MacroLayout> layout_of(std::int64_t epoch);
  /// Drops what is in memory. Position i is mini-batch order[i] of the epoch; mini-batches of the same
  /// macro-batch are adjacent. No stage may be running.
  void begin_epoch(std::int64_t epoch, const std::vector<std::int64_t>& order);
  /// The number of positions of each group.
  std::vector<std::int64_t> group_sizes() const;
  /// The layout of the epoch that has begun.
  const MacroLayout& layout() const { return *layout_; }

  /// The stage group_read: loads a group, and drops those before the one before it. Throws what
  /// MacroLoader::load() throws.
  void load(std::int64_t group);
  /// The stage group_prepare, once for each of the plan's workers: the first one loads the group by the
  /// threads of all, the others wait until it is there.
  void prepare(std::int64_t group);
  /// The macro-batch of a mini-batch, which has been loaded.
  std::shared_ptr<MacroBatch> batch_with(std::int64_t mini_batch) const;

  /// What was read from the disk since the last call.
  ReadCounts take_reads() { return loader_->take_reads(); }
  std::int64_t loader_bytes() const { return loader_->bytes(); }

 private:
  /// A run of positions of the same macro-batch.
  struct Group {
    std::int64_t in_layout = 0;
    std::int64_t size = 0;
  };
  enum class Loading : std::uint8_t { begun, done, failed };

  std::unique_ptr<MacroLoader> loader_;
  plan::Job job_;
  plan::Plan plan_;
  OnFirst on_first_;
  std::int64_t epoch_ = 0;  ///< of layout_
  std::shared_ptr<const MacroLayout> layout_;
  std::int64_t asked_epoch_ = 0;  ///< of asked_layout_
  std::shared_ptr<const MacroLayout> asked_layout_;
  std::vector<Group> groups_;
  mutable std::mutex mutex_;  ///< of all below
  std::condition_variable loaded_;
  std::map<std::int64_t, Loading> loadings_;                       ///< by group, those of prepare()
  std::map<std::int64_t, std::shared_ptr<MacroBatch>> in_memory_;  ///< by macro-batch of the layout
};

}  // namespace gnomon::runtime
