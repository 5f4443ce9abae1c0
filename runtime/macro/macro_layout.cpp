#include "runtime/macro/macro_layout.h"

#include <algorithm>

#include "base/index.h"
#include "base/index_range.h"
#include "base/philox.h"
#include "base/shuffle.h"
#include "graph/epoch_order.h"

namespace gnomon::runtime {
namespace {

/// The purpose's levels 0 to 3 are used by epochs, caches, random parts and macro-batches.
constexpr std::uint32_t first_pass_level = 4;

}  // namespace

MacroLayout::MacroLayout(std::vector<MacroGroup> groups, const plan::Job& job, std::int64_t epoch)
    : groups_(std::move(groups)),
      batch_size_(job.batch_size),
      seed_(job.seed),
      epoch_(static_cast<std::uint64_t>(epoch)),
      first_batches_{0} {
  for (const auto& group : groups_) {
    first_batches_.push_back(batches() + graph::num_batches(std::ssize(group.train), batch_size_));
  }
}

std::int64_t MacroLayout::group_of(std::int64_t batch) const {
  const std::int64_t in_pass = batch % batches();
  return std::upper_bound(first_batches_.begin(), first_batches_.end(), in_pass) - first_batches_.begin() - 1;
}

const std::vector<graph::VertexId>& MacroLayout::order_of(std::int64_t group, std::int64_t pass) const {
  const std::lock_guard lock(mutex_);
  auto& order = orders_[{group, pass}];  // references to a map's elements stay valid
  if (order.empty()) {
    order = groups_[static_cast<std::size_t>(group)].train;
    base::RandomStream random({.seed = seed_,
                               .purpose = base::Purpose::shuffle,
                               .epoch = epoch_,
                               .batch = static_cast<std::uint64_t>(group),
                               .level = first_pass_level + static_cast<std::uint32_t>(pass)});
    base::shuffle(order, random);
  }
  return order;
}

std::span<const graph::VertexId> MacroLayout::seeds_of(std::int64_t batch) const {
  const std::int64_t group = group_of(batch);
  const std::span<const graph::VertexId> order = order_of(group, batch / batches());
  const auto number = static_cast<int>(batch % batches() - first_batch_of(group));
  const auto count = static_cast<int>(first_batch_of(group + 1) - first_batch_of(group));
  const auto [begin, end] = base::chunk_of(std::ssize(order), number, count);
  return order.subspan(base::at(begin), base::at(end - begin));
}

}  // namespace gnomon::runtime
