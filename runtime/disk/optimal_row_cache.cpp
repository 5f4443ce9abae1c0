#include "runtime/disk/optimal_row_cache.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gnomon::runtime {

OptimalRowCache::OptimalRowCache(const Options& options, Sample sample)
    : options_(options),
      sample_(std::move(sample)),
      team_(options.threads),
      chooser_(options.num_vertices, options.max_rows),
      held_(static_cast<std::size_t>(options.max_rows), no_vertex),
      writers_(static_cast<std::size_t>(options.max_rows)) {
  rows_.reserve(static_cast<std::size_t>(options.max_rows * options.row_bytes), 0);
}

void OptimalRowCache::begin_epoch(std::int64_t epoch, const std::vector<std::int64_t>& order) {
  const std::lock_guard lock(ahead_mutex_);
  first_writer_ += static_cast<std::uint32_t>(order_.size());
  epoch_ = epoch;
  order_ = order;
  known_ = 0;
  choices_.assign(order.size(), {});
}

std::vector<RowChoice> OptimalRowCache::choices_of(std::int64_t position) {
  const std::lock_guard lock(ahead_mutex_);
  while (known_ <= position) {
    look_ahead();
  }
  return std::move(choices_[static_cast<std::size_t>(position)]);
}

/// Samples the next super-batch and computes its choices.
void OptimalRowCache::look_ahead() {
  const std::int64_t end = std::min(known_ + options_.super_batch, std::ssize(order_));
  std::vector<std::vector<std::uint32_t>> batches;
  std::int64_t accesses = 0;
  while (known_ + std::ssize(batches) < end && accesses <= options_.max_known_accesses) {
    const std::int64_t first = std::ssize(batches);
    const std::int64_t count = std::min<std::int64_t>(team_.size(), end - known_ - first);
    batches.resize(batches.size() + static_cast<std::size_t>(count));
    team_.step([&](int member) {
      if (member < count) {
        const auto at = static_cast<std::size_t>(first + member);
        sample_(epoch_, order_[static_cast<std::size_t>(known_) + at], member, batches[at]);
      }
    });
    for (std::int64_t i = first; i < std::ssize(batches); ++i) {
      accesses += std::ssize(batches[static_cast<std::size_t>(i)]);
    }
  }
  team_.park();
  auto choices = chooser_.decide(batches);
  std::move(choices.begin(), choices.end(), choices_.begin() + known_);
  known_ += std::ssize(batches);
}

bool OptimalRowCache::copy_held(std::size_t slot, std::uint32_t vertex, std::byte* out) {
  const std::lock_guard lock(locks_[slot % num_locks]);
  if (held_[slot] != vertex) {
    return false;
  }
  std::memcpy(out, row(slot), static_cast<std::size_t>(options_.row_bytes));
  return true;
}

/// Unless a later mini-batch has replaced the row.
void OptimalRowCache::keep(std::size_t slot, std::uint32_t vertex, std::uint32_t writer,
                           const std::byte* from) {
  const std::lock_guard lock(locks_[slot % num_locks]);
  if (writers_[slot] <= writer) {
    std::memcpy(row(slot), from, static_cast<std::size_t>(options_.row_bytes));
    held_[slot] = vertex;
    writers_[slot] = writer;
  }
}

std::int64_t OptimalRowCache::serve(std::int64_t position, std::span<const graph::VertexId> vertices,
                                    std::byte* out, const ReadRows& read) {
  const auto choices = choices_of(position);
  const std::uint32_t writer = first_writer_ + static_cast<std::uint32_t>(position) + 1;
  const auto place = [&](std::size_t i) { return out + i * static_cast<std::size_t>(options_.row_bytes); };
  const auto slot_of = [&](std::size_t i) { return static_cast<std::size_t>(choices[i].slot()); };
  Places misses;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const auto vertex = static_cast<std::uint32_t>(vertices[i]);
    if (!choices[i].is_hit() || !copy_held(slot_of(i), vertex, place(i))) {
      misses.push_back(static_cast<std::uint32_t>(i));
    }
  }
  read(misses);
  for (const std::uint32_t i : misses) {
    if (choices[i].has_slot()) {
      keep(slot_of(i), static_cast<std::uint32_t>(vertices[i]), writer, place(i));
    }
  }
  return std::ssize(vertices) - std::ssize(misses);
}

}  // namespace gnomon::runtime
