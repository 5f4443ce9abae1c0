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

/// What a column holds.
constexpr std::uint64_t full = std::uint64_t{1} << 32;
constexpr const char* what_for = "draws by weight";

/// The sum of a list's weights and how many are positive.
struct Total {
  double sum = 0;
  std::int64_t positives = 0;
};

/// Kahan's compensated sum (CACM 8(1), 1965): two roundings away from the exact one, however long the list.
Total total_of(const float* weights, std::int64_t degree) {
  Total total;
  double lost = 0;
  bool is_good = true;
  for (std::int64_t i = 0; i < degree; ++i) {
    is_good = is_good && weights[i] >= 0;  // NaN is not
    const double added = static_cast<double>(weights[i]) - lost;
    const double sum = total.sum + added;
    lost = (sum - total.sum) - added;
    total.sum = sum;
    total.positives += weights[i] > 0 ? 1 : 0;
  }
  if (!is_good || !std::isfinite(total.sum)) {
    throw base::InputError("edge_weights", "must be finite and not negative to draw by them");
  }
  return total;
}

/// The parts of each edge of one list, degree * 2^32 in all. One part is for being positive, and one more at
/// most for those that rounding down leaves over.
class Parts {
 public:
  /// Some weight must be positive.
  Parts(const float* weights, std::int64_t degree, const Total& total) : weights_(weights) {
    const std::uint64_t all = static_cast<std::uint64_t>(degree) * full;
    const auto positives = static_cast<std::uint64_t>(total.positives);
    // A little less than all, so that no rounding gives out more.
    scale_ = static_cast<double>(all - positives) * (1 - 0x1p-50) / total.sum;
    least_ = 1;
    std::uint64_t given = 0;
    for (std::int64_t i = 0; i < degree; ++i) {
      given += of(i);
    }
    const std::uint64_t left = all - given;
    least_ += left / positives;
    for (std::uint64_t more = left % positives; more > 0; ++one_more_before_) {
      more -= weights_[one_more_before_] > 0 ? 1 : 0;
    }
  }

  std::uint64_t of(std::int64_t i) const {
    if (!(weights_[i] > 0)) {
      return 0;
    }
    const auto by_weight = static_cast<std::uint64_t>(static_cast<double>(weights_[i]) * scale_);
    return by_weight + least_ + (i < one_more_before_ ? 1 : 0);
  }

 private:
  const float* weights_;
  double scale_ = 0;
  std::uint64_t least_ = 0;
  std::int64_t one_more_before_ = 0;
};

/// Fills the columns of a list by one sweep over the edges of less than a column beside one over those of
/// more (as Hübschle-Schneider and Sanders do, ESA 2019, section 4.1): no lists of either are kept. An edge
/// of more gives to those of less until no more than a column is left of it, and more than nothing: it then
/// takes a column of its own, the rest of which the next one fills.
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
  /// Those of exactly one column are filled on the way.
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

/// Returns how many edges have a weight.
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
      throw base::InputError(what_for, "vertex " + std::to_string(v) + " has " + std::to_string(degree) +
                                           " edges; a list may have at most 2^32 - 1");
    }
  }
}

[[noreturn]] void refuse_memory(std::int64_t needed) {
  throw base::Failure(what_for, "their tables take " + std::to_string(needed) + " bytes of memory, " +
                                    std::to_string(base::available_memory_bytes()) + " are there");
}

AliasTables make_room(std::int64_t vertices, std::int64_t edges) {
  const std::int64_t needed = alias_table_bytes(vertices, edges);
  const std::int64_t there = base::available_memory_bytes();
  if (there > 0 && needed > there) {
    refuse_memory(needed);
  }
  try {
    AliasTables tables;
    tables.columns.reserve(static_cast<std::size_t>(edges), 0);
    tables.positives.reserve(static_cast<std::size_t>(vertices), 0);
    return tables;
  } catch (const std::bad_alloc&) {
    refuse_memory(needed);
  }
}

/// The first list of each of so many shares that are about as much work, and the end of the last.
std::vector<std::size_t> share_lists(std::span<const std::int64_t> indptr, int shares) {
  std::vector<std::size_t> firsts;
  for (int share = 0; share <= shares; ++share) {
    const std::int64_t before = base::chunk_of(indptr.back(), share, shares).begin;
    const auto first = std::lower_bound(indptr.begin(), indptr.end() - 1, before);
    firsts.push_back(share == 0        ? 0
                     : share == shares ? indptr.size() - 1
                                       : static_cast<std::size_t>(first - indptr.begin()));
  }
  return firsts;
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
  AliasTables tables = make_room(std::ssize(indptr) - 1, indptr.back());
  // A thread for less is not worth its start.
  constexpr std::int64_t least_edges = std::int64_t{1} << 16;
  const auto members = static_cast<int>(std::clamp<std::int64_t>(indptr.back() / least_edges, 1, threads));
  const auto firsts = share_lists(indptr, members);
  std::vector<std::uint8_t> has_zeros(static_cast<std::size_t>(members));
  base::Team(members).step([&](int member) {
    const auto share = static_cast<std::size_t>(member);
    bool zeros = false;
    for (std::size_t v = firsts[share]; v < firsts[share + 1]; ++v) {
      const std::int64_t degree = indptr[v + 1] - indptr[v];
      const std::int64_t positives =
          fill_table(weights.data() + indptr[v], degree, tables.columns.data() + indptr[v]);
      tables.positives[v] = static_cast<std::uint32_t>(positives);
      zeros = zeros || positives < degree;
    }
    has_zeros[share] = zeros ? 1 : 0;
  });
  if (std::count(has_zeros.begin(), has_zeros.end(), 1) == 0) {
    tables.positives = {};
  }
  return tables;
}

}  // namespace gnomon::kernels::cpu
