#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/workers.h"

namespace gnomon::graph {

/// Generates a sequence of `count` elements in blocks of `block_elements` on several threads (0: all cores).
/// fill(block number, first element, span) writes one block and is called concurrently; visit(span) is then
/// called with the finished blocks in the order of the sequence.
template <class T, class Fill, class Visit>
void fill_blocks(std::int64_t count, std::int64_t block_elements, Fill fill, Visit visit, int threads = 0) {
  Workers workers(count <= block_elements ? 1 : threads);
  std::vector<T> filled;
  for (std::int64_t begin = 0; begin < count;) {
    const std::int64_t size = std::min(workers.count() * block_elements, count - begin);
    filled.resize(static_cast<std::size_t>(size));
    workers.for_each((size + block_elements - 1) / block_elements, [&](std::int64_t i) {
      const std::int64_t first = i * block_elements;
      fill((begin + first) / block_elements, begin + first,
           std::span<T>(filled).subspan(static_cast<std::size_t>(first),
                                        static_cast<std::size_t>(std::min(block_elements, size - first))));
    });
    visit(std::span<const T>(filled));
    begin += size;
  }
}

}  // namespace gnomon::graph
