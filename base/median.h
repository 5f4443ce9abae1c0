#pragma once

#include <vector>

namespace gnomon::base {

/// Returns the median: the middle value, or the mean of the two middle ones. Precondition: `values` is not
/// empty.
double median(std::vector<double> values);

}  // namespace gnomon::base
