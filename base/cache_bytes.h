#pragma once

#include <cstddef>

namespace gnomon::base {

/// Returns the bytes of a processor cache, given by its name for sysconf(3), for instance
/// _SC_LEVEL3_CACHE_SIZE; `otherwise` if they are unknown.
std::size_t cache_bytes(int name, std::size_t otherwise);

}  // namespace gnomon::base
