#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace gnomon::runtime {

/// The age of embeddings that mini-batches used again: updates of the weights since those that they are of.
struct Staleness {
  std::int64_t rows = 0;  ///< that were used; a row of several layers counts once
  std::int64_t sum = 0;   ///< of their ages
  std::int64_t max = 0;

  std::optional<double> mean() const {
    return rows == 0 ? std::nullopt : std::optional(static_cast<double>(sum) / static_cast<double>(rows));
  }
  bool operator==(const Staleness&) const = default;
};

}  // namespace gnomon::runtime
