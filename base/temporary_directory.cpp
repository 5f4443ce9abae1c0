#include "base/temporary_directory.h"

#include <stdlib.h>

#include <system_error>

#include "base/error.h"

namespace gnomon::base {

TemporaryDirectory::TemporaryDirectory() {
  std::string name = std::filesystem::temp_directory_path() / "gnomon-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    throw Failure(name, "cannot be made");
  }
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace gnomon::base
