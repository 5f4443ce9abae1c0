#pragma once

#include <cstdint>

namespace gnomon::base {

/// The point that a Student t variable with `degrees` >= 1 degrees of freedom exceeds with probability 0.025:
/// closed forms for 1 and 2, beyond them the expansion of Abramowitz and Stegun 26.7.5 (error below 0.2 %).
double student_t_975(std::int64_t degrees);

}  // namespace gnomon::base
