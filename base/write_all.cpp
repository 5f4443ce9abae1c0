#include "base/write_all.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"

namespace gnomon::base {

void write_all(int descriptor, const std::filesystem::path& path, std::string_view bytes,
               std::int64_t offset) {
  while (!bytes.empty()) {
    const ssize_t done = offset == at_position
                             ? ::write(descriptor, bytes.data(), bytes.size())
                             : ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0) {
      if (errno == EINTR) {
        continue;
      }
      throw Failure(path.string(), std::string("cannot write: ") + std::strerror(errno));
    }
    bytes.remove_prefix(static_cast<std::size_t>(done));
    offset = offset == at_position ? offset : offset + done;
  }
}

}  // namespace gnomon::base
