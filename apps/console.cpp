#include "apps/console.h"

#include <iostream>

namespace gnomon::apps {

base::Progress Console::progress() {
  return [this](std::string_view what, std::int64_t done, std::int64_t total) {
    if (!bar_) {
      bar_.emplace();
    }
    base::report(bar_->progress(), what, done, total);
  };
}

void Console::say(const std::string& text) {
  wipe();
  if (!quiet_) {
    std::cout << text << std::flush;
  }
}

}  // namespace gnomon::apps
