#include "base/number_text.h"

#include <cmath>
#include <cstdint>

#include "base/document.h"

namespace gnomon::base {

std::string number_text(double number) {
  const bool whole = std::floor(number) == number && std::fabs(number) < 1e15;
  return whole ? std::to_string(static_cast<std::int64_t>(number)) : Json(number).dump();
}

}  // namespace gnomon::base
