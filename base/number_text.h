#pragma once

#include <string>

namespace gnomon::base {

/// A number as messages write it: whole ones without a decimal point.
std::string number_text(double number);

}  // namespace gnomon::base
