#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "plan/job.h"

namespace gnomon::runtime {

/// A macro-batch of an epoch before it is loaded.
struct MacroGroup {
  std::vector<std::int32_t> parts;     ///< ascending; empty if the macro-batch is not a union of parts
  std::vector<graph::VertexId> train;  ///< training vertices, not empty
};

/// The mini-batches of an epoch that are drawn from macro-batches. In each pass over a macro-batch, its
/// training vertices are shuffled and divided into as few mini-batches as the job's batch size allows, whose
/// sizes differ by at most one, as Adam's step of a small rest is as long as others and mostly noise: every
/// training vertex is in one mini-batch of each pass.
///
/// The mini-batches of pass 0 are numbered from 0 to batches() - 1, macro-batch by macro-batch; numbers of
/// pass k are higher by k · batches(). The content of a mini-batch is a pure function of the groups, the job,
/// the epoch and its number. Thread-safe.
class MacroLayout {
 public:
  MacroLayout(std::vector<MacroGroup> groups, const plan::Job& job, std::int64_t epoch);

  /// The number of mini-batches of one pass over all macro-batches.
  std::int64_t batches() const { return first_batches_.back(); }
  std::int64_t num_groups() const { return std::ssize(groups_); }
  const MacroGroup& group(std::int64_t number) const { return groups_[static_cast<std::size_t>(number)]; }
  /// The macro-batch of a mini-batch of any pass.
  std::int64_t group_of(std::int64_t batch) const;
  /// The first mini-batch of a macro-batch in pass 0; batches() for num_groups().
  std::int64_t first_batch_of(std::int64_t group) const {
    return first_batches_[static_cast<std::size_t>(group)];
  }
  /// The training vertices of a mini-batch of any pass; valid as long as this object.
  std::span<const graph::VertexId> seeds_of(std::int64_t batch) const;

 private:
  const std::vector<graph::VertexId>& order_of(std::int64_t group, std::int64_t pass) const;

  std::vector<MacroGroup> groups_;
  std::int64_t batch_size_;
  std::uint64_t seed_;
  std::uint64_t epoch_;
  std::vector<std::int64_t> first_batches_;  ///< by group, then the number of all
  mutable std::mutex mutex_;                 ///< guards orders_
  /// The shuffled training vertices of a macro-batch in a pass, made at first use.
  mutable std::map<std::pair<std::int64_t, std::int64_t>, std::vector<graph::VertexId>> orders_;
};

}  // namespace gnomon::runtime
