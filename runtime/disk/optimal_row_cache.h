#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "base/team.h"
#include "kernels/cpu/huge_array.h"
#include "runtime/disk/optimal_choices.h"
#include "runtime/disk/row_cache.h"

namespace gnomon::runtime {

/// Caches the rows of a super-batch whose next use is nearest (OptimalChoices). The first mini-batch of a
/// super-batch samples it ahead, on several threads.
///
/// Mini-batches are served in the order of the calls. If a mini-batch needs a row that an earlier one has not
/// stored yet, it reads the row itself; with one worker all choices are executed as decided.
class OptimalRowCache final : public RowCache {
 public:
  /// Samples a mini-batch and writes its vertices; `thread` is below Options::threads.
  using Sample = std::function<void(std::int64_t epoch, std::int64_t batch, int thread,
                                    std::vector<std::uint32_t>& vertices)>;
  struct Options {
    std::int64_t num_vertices = 0;
    std::int64_t row_bytes = 0;
    std::int64_t max_rows = 0;
    std::int64_t super_batch = 1;  ///< mini-batches that are known ahead
    std::int64_t max_known_accesses =
        0;  ///< longer super-batches are cut, after at least `threads` mini-batches
    int threads = 1;
  };

  OptimalRowCache(const Options& options, Sample sample);

  void begin_epoch(std::int64_t epoch, const std::vector<std::int64_t>& order) override;
  std::int64_t serve(std::int64_t position, std::span<const graph::VertexId> vertices, std::byte* out,
                     const ReadRows& read) override;

 private:
  static constexpr std::size_t num_locks = 64;
  static constexpr std::uint32_t no_vertex = ~std::uint32_t{0};

  std::vector<RowChoice> choices_of(std::int64_t position);
  void look_ahead();
  bool copy_held(std::size_t slot, std::uint32_t vertex, std::byte* out);
  void keep(std::size_t slot, std::uint32_t vertex, std::uint32_t writer, const std::byte* row);
  std::byte* row(std::size_t slot) {
    return rows_.data() + slot * static_cast<std::size_t>(options_.row_bytes);
  }

  Options options_;
  Sample sample_;
  std::mutex ahead_mutex_;  ///< guards the next seven
  base::Team team_;
  OptimalChoices chooser_;
  std::int64_t epoch_ = 0;
  std::vector<std::int64_t> order_;
  std::int64_t known_ = 0;                       ///< number of positions with choices
  std::vector<std::vector<RowChoice>> choices_;  ///< by position, until it is served
  std::uint32_t first_writer_ = 0;               ///< of this epoch

  std::array<std::mutex, num_locks> locks_;  ///< of the slots, by their number
  std::vector<std::uint32_t> held_;          ///< by slot: the vertex whose row lies there
  std::vector<std::uint32_t> writers_;       ///< by slot: the mini-batch that stored it, counted from 1
  kernels::cpu::HugeArray<std::byte> rows_;
};

}  // namespace gnomon::runtime
