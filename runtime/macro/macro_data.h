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

/// The macro-batches of a training: the layout of an epoch, and the loaded ones. The (remaining) positions of
/// an epoch are divided into groups, one for each macro-batch, in order.
class MacroData {
 public:
  /// Called once, on a stage's thread, after the first macro-batch has been loaded. An exception ends the
  /// epoch.
  using OnFirst = std::function<void(MacroBatch& first)>;

  MacroData(std::unique_ptr<MacroLoader> loader, plan::Job job, plan::Plan plan, OnFirst on_first);

  /// Returns the layout of an epoch. Caches the last requested one.
  std::shared_ptr<const MacroLayout> layout_of(std::int64_t epoch);
  /// Begins an epoch and drops all loaded macro-batches. Position i is mini-batch order[i] of the epoch;
  /// mini-batches of the same macro-batch are adjacent. Precondition: no stage is running.
  void begin_epoch(std::int64_t epoch, const std::vector<std::int64_t>& order);
  /// The number of positions of each group.
  std::vector<std::int64_t> group_sizes() const;
  /// The layout of the current epoch.
  const MacroLayout& layout() const { return *layout_; }

  /// The stage group_read: loads a group, and drops all groups before the previous one. Throws what
  /// MacroLoader::load() throws.
  void load(std::int64_t group);
  /// The stage group_prepare, once for each of the plan's workers: the first call loads the group with the
  /// threads of all workers, the others wait until it is loaded.
  void prepare(std::int64_t group);
  /// The macro-batch of a group, or of a mini-batch. Precondition: it is loaded.
  std::shared_ptr<MacroBatch> batch_of_group(std::int64_t group) const;
  std::shared_ptr<MacroBatch> batch_with(std::int64_t mini_batch) const;

  /// The reads from the disk since the last call.
  ReadCounts take_reads() { return loader_->take_reads(); }
  std::int64_t loader_bytes() const { return loader_->bytes(); }
  /// Upper bound of the memory of all macro-batches at a time, the one that is being loaded included, in any
  /// epoch of the plan.
  std::int64_t max_bytes() const;

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
  std::int64_t requested_epoch_ = 0;  ///< of requested_layout_
  std::shared_ptr<const MacroLayout> requested_layout_;
  std::vector<Group> groups_;
  mutable std::mutex mutex_;  ///< guards all members below
  std::condition_variable loaded_;
  std::map<std::int64_t, Loading> loadings_;                       ///< calls of prepare(), by group
  std::map<std::int64_t, std::shared_ptr<MacroBatch>> in_memory_;  ///< by macro-batch of the layout
};

}  // namespace gnomon::runtime
