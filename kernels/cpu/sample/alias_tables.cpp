#include "kernels/cpu/sample/alias_tables.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/index_range.h"
#include "base/team.h"
#include "base/usable.h"

namespace gnomon::kernels::cpu {
namespace {

/// The number of parts in a column.
constexpr std::uint64_t full = std::uint64_t{1} << 32;
constexpr const char* where = "weighted sampling";

/// The sum of a list's weights and the number of positive ones.
struct Total {
  double sum = 0;
  std::int64_t positives = 0;
};

/// Sums a list by Kahan's compensated summation (CACM 8(1), 1965), whose error is about two roundings for
/// lists of any length. Throws base::InputError for invalid weights.
Total total_of(const float* weights, std::int64_t degree) {
  Total total;
  double lost = 0;
  bool is_valid = true;
  for (std::int64_t i = 0; i < degree; ++i) {
    is_valid = is_valid && weights[i] >= 0;  // false for NaN
    const double added = static_cast<double>(weights[i]) - lost;
    const double sum = total.sum + added;
    lost = (sum - total.sum) - added;
    total.sum = sum;
    total.positives += weights[i] > 0 ? 1 : 0;
  }
  if (!is_valid || !std::isfinite(total.sum)) {
    throw base::InputError("edge_weights", "must be finite and not negative for weighted sampling");
  }
  return total;
}

/// Distributes the degree · 2^32 parts of a list's columns over its edges, in proportion to the weights
/// rounded down. Every positive edge gets at least one part; the parts that rounding leaves over are
/// distributed evenly.
class Parts {
 public:
  /// Precondition: some weight is positive.
  Parts(const float* weights, std::int64_t degree, const Total& total) : weights_(weights) {
    const std::uint64_t all = static_cast<std::uint64_t>(degree) * full;
    const auto positives = static_cast<std::uint64_t>(total.positives);
    // Slightly less than `all`, so that rounding cannot distribute more.
    scale_ = static_cast<double>(all - positives) * (1 - 0x1p-50) / total.sum;
    base_ = 1;
    std::uint64_t distributed = 0;
    for (std::int64_t i = 0; i < degree; ++i) {
      distributed += of(i);
    }
    const std::uint64_t left = all - distributed;
    base_ += left / positives;
    for (std::uint64_t extra = left % positives; extra > 0; ++extra_end_) {
      extra -= weights_[extra_end_] > 0 ? 1 : 0;
    }
  }

  std::uint64_t of(std::int64_t i) const {
    if (!(weights_[i] > 0)) {
      return 0;
    }
    const auto by_weight = static_cast<std::uint64_t>(static_cast<double>(weights_[i]) * scale_);
    return by_weight + base_ + (i < extra_end_ ? 1 : 0);
  }

 private:
  const float* weights_;
  double scale_ = 0;
  std::uint64_t base_ = 0;      ///< parts that every positive edge gets beside its share
  std::int64_t extra_end_ = 0;  ///< positive edges before this position get one more
};

/// Fills the columns of a list by two simultaneous sweeps (Hübschle-Schneider and Sanders, ESA 2019,
/// section 4.1), which need no work lists: one over the small edges (less than a column of parts), one over
/// the large ones (more than a column). A large edge fills up the columns of small edges until it is left
/// with at most one column of parts. These go to its own column, and the next large edge fills up the rest.
class Sweep {
 public:
  Sweep(const Parts& parts, std::int64_t degree, AliasColumn* columns)
      : parts_(parts), degree_(degree), columns_(columns) {}

  void run() {
    std::int64_t small = next_small(0);
    std::int64_t large = next_large(0);
    std::uint64_t left = large < degree_ ? parts_.of(large) : 0;
    while (large < degree_) {
      if (left > full) {
        const std::uint64_t own = parts_.of(small);
        columns_[small] = {static_cast<std::uint32_t>(own), static_cast<std::uint32_t>(large)};
        left -= full - own;
        small = next_small(small + 1);
      } else {
        const std::int64_t next = next_large(large + 1);
        if (left == full) {
          fill_alone(large);
        } else {
          columns_[large] = {static_cast<std::uint32_t>(left), static_cast<std::uint32_t>(next)};
        }
        const std::uint64_t needed = full - left;
        large = next;
        left = large < degree_ ? parts_.of(large) - needed : 0;
      }
    }
  }

 private:
  void fill_alone(std::int64_t i) {
    columns_[i] = {static_cast<std::uint32_t>(full - 1), static_cast<std::uint32_t>(i)};
  }
  std::int64_t next_small(std::int64_t i) const {
    while (i < degree_ && parts_.of(i) >= full) {
      ++i;
    }
    return i;
  }
  /// Returns the next large edge from `i` on, and fills the columns of edges of exactly one column in
  /// between.
  std::int64_t next_large(std::int64_t i) {
    for (; i < degree_; ++i) {
      const std::uint64_t parts = parts_.of(i);
      if (parts > full) {
        return i;
      }
      if (parts == full) {
        fill_alone(i);
      }
    }
    return i;
  }

  const Parts& parts_;
  std::int64_t degree_;
  AliasColumn* columns_;
};

/// Fills the table of one list and returns the number of its edges of positive weight.
std::int64_t fill_table(const float* weights, std::int64_t degree, AliasColumn* columns) {
  const Total total = total_of(weights, degree);
  if (total.positives == 0) {
    for (std::int64_t i = 0; i < degree; ++i) {
      columns[i] = {0, static_cast<std::uint32_t>(i)};
    }
    return 0;
  }
  const Parts parts(weights, degree, total);
  Sweep(parts, degree, columns).run();
  return total.positives;
}

void check_degrees(std::span<const std::int64_t> indptr) {
  for (std::size_t v = 0; v + 1 < indptr.size(); ++v) {
    if (const std::int64_t degree = indptr[v + 1] - indptr[v]; degree >= static_cast<std::int64_t>(full)) {
      throw base::InputError(where, "vertex " + std::to_string(v) + " has " + std::to_string(degree) +
                                        " edges; at most 2^32 - 1 are supported");
    }
  }
}

[[noreturn]] void throw_out_of_memory(std::int64_t needed) {
  throw base::Failure(where, "the alias tables need " + std::to_string(needed) +
                                 " bytes of memory, but only " +
                                 std::to_string(base::available_memory_bytes()) + " are available");
}

AliasTables allocate_tables(std::int64_t vertices, std::int64_t edges) {
  const std::int64_t needed = alias_table_bytes(vertices, edges);
  const std::int64_t available = base::available_memory_bytes();
  if (available > 0 && needed > available) {
    throw_out_of_memory(needed);
  }
  try {
    AliasTables tables;
    tables.columns.reserve(static_cast<std::size_t>(edges), 0);
    tables.positives.reserve(static_cast<std::size_t>(vertices), 0);
    return tables;
  } catch (const std::bad_alloc&) {
    throw_out_of_memory(needed);
  }
}

/// Splits the lists into `num_chunks` contiguous chunks of nearly equal numbers of edges. Returns the first
/// list of each chunk, and the end of the last one.
std::vector<std::size_t> chunk_begins(std::span<const std::int64_t> indptr, int num_chunks) {
  std::vector<std::size_t> begins;
  for (int chunk = 0; chunk <= num_chunks; ++chunk) {
    const std::int64_t edges_before = base::chunk_of(indptr.back(), chunk, num_chunks).begin;
    const auto first = std::lower_bound(indptr.begin(), indptr.end() - 1, edges_before);
    begins.push_back(chunk == 0            ? 0
                     : chunk == num_chunks ? indptr.size() - 1
                                           : static_cast<std::size_t>(first - indptr.begin()));
  }
  return begins;
}

}  // namespace

std::int64_t alias_table_bytes(std::int64_t vertices, std::int64_t edges) {
  return edges * std::int64_t{sizeof(AliasColumn)} + vertices * std::int64_t{sizeof(std::uint32_t)};
}

AliasTables make_alias_tables(std::span<const std::int64_t> indptr, std::span<const float> weights,
                              int threads) {
  if (indptr.empty()) {
    return {};
  }
  check_degrees(indptr);
  AliasTables tables = allocate_tables(std::ssize(indptr) - 1, indptr.back());
  // Below this, starting a thread costs more than it saves.
  constexpr std::int64_t min_edges_per_thread = std::int64_t{1} << 16;
  const auto members =
      static_cast<int>(std::clamp<std::int64_t>(indptr.back() / min_edges_per_thread, 1, threads));
  const auto begins = chunk_begins(indptr, members);
  std::vector<std::uint8_t> has_zeros(static_cast<std::size_t>(members));
  base::Team(members).step([&](int member) {
    const auto chunk = static_cast<std::size_t>(member);
    bool zeros = false;
    for (std::size_t v = begins[chunk]; v < begins[chunk + 1]; ++v) {
      const std::int64_t degree = indptr[v + 1] - indptr[v];
      const std::int64_t positives =
          fill_table(weights.data() + indptr[v], degree, tables.columns.data() + indptr[v]);
      tables.positives[v] = static_cast<std::uint32_t>(positives);
      zeros = zeros || positives < degree;
    }
    has_zeros[chunk] = zeros ? 1 : 0;
  });
  if (std::count(has_zeros.begin(), has_zeros.end(), 1) == 0) {
    tables.positives = {};
  }
  return tables;
}

}  // namespace gnomon::kernels::cpu
