#pragma once

#include <limits>

#include "base/document.h"

namespace gnomon::profiles {

/// A quantity that is unknown has no value and is absent from documents. These are the ranges of quantities
/// that are above 0 wherever they are known: earlier versions wrote 0 for unknown, so 0 is read as absent.
inline constexpr base::Range positive_or_unknown{0, std::numeric_limits<double>::infinity(), true};
inline constexpr base::Range count_or_unknown{0, 1e6, true};

}  // namespace gnomon::profiles
