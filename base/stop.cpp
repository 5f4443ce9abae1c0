#include "base/stop.h"

#include <utility>

#include "base/error.h"

namespace gnomon::base {

Progress stoppable(Progress progress, const std::atomic<bool>* stop) {
  return
      [progress = std::move(progress), stop](std::string_view what, std::int64_t done, std::int64_t total) {
        check_stop(stop);
        report(progress, what, done, total);
      };
}

void check_stop(const std::atomic<bool>* stop) {
  if (stop != nullptr && *stop) {
    throw Interrupted();
  }
}

}  // namespace gnomon::base
