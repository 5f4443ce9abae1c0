#pragma once

#include <vector>

namespace gnomon::base {

/// The middle value, or the mean of the two in the middle. `values` must not be empty.
double median(std::vector<double> values);

}  // namespace gnomon::base
