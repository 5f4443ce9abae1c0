#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace gnomon::runtime {

/// The staleness of reused embeddings: the number of weight updates since they were computed.
struct Staleness {
  std::int64_t rows = 0;  ///< rows used; a row of several layers counts once
  std::int64_t sum = 0;   ///< of their ages
  std::int64_t max = 0;

  std::optional<double> mean() const {
    return rows == 0 ? std::nullopt : std::optional(static_cast<double>(sum) / static_cast<double>(rows));
  }
  bool operator==(const Staleness&) const = default;
};

}  // namespace gnomon::runtime
