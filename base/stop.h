#pragma once

#include <atomic>

#include "base/progress.h"

namespace gnomon::base {

/// Makes a task that reports progress cancellable: the returned callback forwards to `progress`, and throws
/// Interrupted once `stop` is set. `stop`, unless null, must outlive the result.
Progress stoppable(Progress progress, const std::atomic<bool>* stop);

/// Throws Interrupted if `stop` is set.
void check_stop(const std::atomic<bool>* stop);

}  // namespace gnomon::base
