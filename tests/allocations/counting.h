#pragma once

#include <cstdint>

namespace gnomon {

/// How often the calling thread has called operator new or mmap.
std::int64_t allocations_of_this_thread();

}  // namespace gnomon
