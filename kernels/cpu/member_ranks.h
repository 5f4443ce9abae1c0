#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/ranked_bits.h"

namespace gnomon::kernels::cpu {

/// Elements that member_ranks() may write beyond those that it returns.
inline constexpr std::size_t member_ranks_slack = 64;

/// Writes the ranks in `members` of those ids that are members, in the order of `ids`, to `to`, and returns
/// their number. Preconditions: the ids are in the range of the set, whose count() has been called; `to` has
/// room for ids.size() + member_ranks_slack elements and does not overlap `ids`.
std::size_t member_ranks(std::span<const std::uint32_t> ids, const base::RankedBits& members,
                         std::uint32_t* to);

}  // namespace gnomon::kernels::cpu
