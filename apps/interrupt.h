#pragma once

#include <atomic>

namespace gnomon::apps {

/// From now on the first Ctrl-C (SIGINT) or SIGTERM only sets the returned flag; the second one terminates
/// the program. Only for commands that watch the flag (base/stop.h).
const std::atomic<bool>& stop_on_interrupt();

}  // namespace gnomon::apps
