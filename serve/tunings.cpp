#include "serve/tunings.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"

namespace gnomon::serve {
namespace {

constexpr std::int64_t max_running = 2;
constexpr std::size_t max_kept = 16;

bool is_running(const base::Json& status) { return status["status"] == "running"; }

}  // namespace

Tunings::~Tunings() {
  for (auto& [number, tuning] : all_) {
    tuning->stop = true;
    tuning->thread.join();
  }
}

std::optional<std::int64_t> Tunings::start(base::Json work) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::count_if(all_, [](const auto& entry) { return is_running(entry.second->status); }) >=
      max_running) {
    return std::nullopt;
  }
  forget_oldest();
  auto& tuning = *(all_[++last_] = std::make_unique<Tuning>());
  tuning.status = {{"status", "running"}, {"what", "starting"}, {"done", 0}, {"total", 0}};
  try {
    tuning.thread = std::thread([this, &tuning, work = std::move(work)] { run(tuning, work); });
  } catch (const std::exception& error) {
    all_.erase(last_);
    throw base::Failure("tuning", std::string("cannot start a thread: ") + error.what());
  }
  return last_;
}

void Tunings::forget_oldest() {
  for (auto entry = all_.begin(); entry != all_.end() && all_.size() >= max_kept;) {
    if (is_running(entry->second->status)) {
      ++entry;
      continue;
    }
    entry->second->thread.join();
    entry = all_.erase(entry);
  }
}

void Tunings::run(Tuning& tuning, const base::Json& work) {
  base::Json end;
  try {
    const auto progress = [&](std::string_view what, std::int64_t done, std::int64_t total) {
      const std::lock_guard lock(mutex_);
      tuning.status.update({{"what", what}, {"done", done}, {"total", total}});
    };
    end = {{"status", "done"}, {"result", perform_(work, progress, &tuning.stop)}};
  } catch (const base::Interrupted&) {
    end = {{"status", "cancelled"}};
  } catch (const std::exception& error) {
    end = {{"status", "failed"}, {"error", error.what()}};
  }
  const std::lock_guard lock(mutex_);
  tuning.status.update(end);
}

base::Json Tunings::look(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(number);
  return found == all_.end() ? base::Json() : found->second->status;
}

bool Tunings::cancel(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(number);
  if (found == all_.end()) {
    return false;
  }
  found->second->stop = true;
  return true;
}

}  // namespace gnomon::serve
