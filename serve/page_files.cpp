#include "serve/page_files.h"

#include <stdexcept>
#include <string>

namespace gnomon::serve {

std::string_view page_file(std::string_view name) {
  for (const auto& [known, text] : page_files()) {
    if (known == name) {
      return text;
    }
  }
  throw std::out_of_range(std::string(name));
}

}  // namespace gnomon::serve
