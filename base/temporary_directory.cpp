#include "base/temporary_directory.h"

#include <stdlib.h>

#include <system_error>

#include "base/error.h"

namespace gnomon::base {

std::filesystem::path new_temporary_directory() {
  std::string name = std::filesystem::temp_directory_path() / "gnomon-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    throw Failure(name, "cannot be made");
  }
  return name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace gnomon::base
