#pragma once

#include <cstdint>
#include <filesystem>

namespace gnomon::graph {

/// What a conversion of a graph may use.
struct Resources {
  int threads = 0;  ///< 0: all cores that the process may use
  /// Maximum of intermediate data in memory; 0: half of the memory that is available (see memory_of).
  std::int64_t memory_bytes = 0;
  /// The directory for intermediate data beyond it; empty: all of them stay in memory.
  std::filesystem::path scratch{};
};

/// Returns the bytes of intermediate data that may be in memory at the same time.
std::int64_t memory_of(const Resources& resources);

}  // namespace gnomon::graph
