#pragma once

#include <cstdint>
#include <filesystem>

namespace gnomon::graph {

/// The resources that a graph conversion may use.
struct Resources {
  int threads = 0;  ///< 0: all cores that the process may use
  /// Maximum size of intermediate data in memory; 0: half of the available memory (see memory_of).
  std::int64_t memory_bytes = 0;
  /// The directory to which intermediate data beyond that are spilled; empty: they all stay in memory.
  std::filesystem::path scratch{};
};

/// Returns the bytes of intermediate data that may be in memory at the same time.
std::int64_t memory_of(const Resources& resources);

}  // namespace gnomon::graph
