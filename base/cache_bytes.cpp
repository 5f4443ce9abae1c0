#include "base/cache_bytes.h"

#include <unistd.h>

namespace gnomon::base {

std::size_t cache_bytes(int name, std::size_t otherwise) {
  const long bytes = ::sysconf(name);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : otherwise;
}

}  // namespace gnomon::base
