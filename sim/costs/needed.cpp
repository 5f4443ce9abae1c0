#include "sim/costs/needed.h"

#include <string>

#include "base/error.h"

namespace gnomon::sim {

double needed(std::optional<double> value, const char* field, const plan::Plan& plan) {
  if (!value) {
    throw base::InputError(std::string("profile: ") + field,
                           "is unknown; plan \"" + plan.name + "\" needs a measured number");
  }
  return *value;
}

}  // namespace gnomon::sim
