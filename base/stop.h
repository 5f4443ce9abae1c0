#pragma once

#include <atomic>

#include "base/progress.h"

namespace gnomon::base {

/// Passes reports on to `progress`, and throws Interrupted from the first report after `stop` is set: makes
/// everything that reports progress stoppable. `stop`, if any, must outlive the result.
Progress stoppable(Progress progress, const std::atomic<bool>* stop);

/// Throws Interrupted if `stop` is set.
void check_stop(const std::atomic<bool>* stop);

}  // namespace gnomon::base
