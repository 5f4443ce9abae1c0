#pragma once

#include <atomic>

#include "base/progress.h"

namespace gnomon::apps {

/// From now on the first Ctrl-C (SIGINT) or SIGTERM only sets the returned flag; the second one ends the
/// program at once. Only for commands that watch the flag.
const std::atomic<bool>& stop_on_interrupt();

/// Passes reports on to `progress` and throws base::Interrupted from the first one after `stop` is set: makes
/// everything that reports progress stoppable.
base::Progress interruptible(base::Progress progress, const std::atomic<bool>& stop);

}  // namespace gnomon::apps
