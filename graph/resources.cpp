#include "graph/resources.h"

#include "base/usable.h"

namespace gnomon::graph {

std::int64_t memory_of(const Resources& resources) {
  return resources.memory_bytes > 0 ? resources.memory_bytes : base::available_memory_bytes() / 2;
}

}  // namespace gnomon::graph
