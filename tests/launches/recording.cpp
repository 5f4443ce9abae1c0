#include "tests/launches/recording.h"

#include <stdexcept>

namespace gnomon::test {
namespace {

std::atomic<Recording*>& being_made() {
  static std::atomic<Recording*> recording{nullptr};
  return recording;
}

}  // namespace

Recording* Recording::current() { return being_made(); }

void Recording::record(const std::function<void()>& act) {
  if (being_made().exchange(this) != nullptr || !calls_.empty()) {
    throw std::logic_error("a graph is recorded once, and one at a time");
  }
  const std::shared_ptr<void> end(nullptr, [](void*) { being_made() = nullptr; });
  act();
}

void Recording::replay() {
  if (current() != nullptr) {
    throw std::logic_error("a replay while launches are recorded");
  }
  ++launches_;
  for (const auto& call : calls_) {
    call();
  }
}

void Recording::add(std::function<void()> call) {
  const std::lock_guard lock(mutex_);
  calls_.push_back(std::move(call));
}

void Recording::keep(std::shared_ptr<const void> memory) {
  const std::lock_guard lock(mutex_);
  kept_.push_back(std::move(memory));
}

}  // namespace gnomon::test
