#include "profiles/measure/power.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "profiles/measure/machine.h"
#include "profiles/measure/statistics.h"

namespace gnomon::profiles {
namespace {

namespace fs = std::filesystem;

/// The number that a file holds; -1 when it cannot be read.
double number_in(const fs::path& file) {
  double number = -1;
  std::ifstream(file) >> number;
  return number;
}

std::string word_in(const fs::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

/// Power in watts while the caller waits.
double watts(EnergyCounter& counter, double seconds) {
  const double before_j = counter.joules();
  const Stopwatch watch;
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  return (counter.joules() - before_j) / watch.seconds();
}

/// Threads that compute while it lives.
class BusyCores {
 public:
  explicit BusyCores(int count) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this] {
        while (!ending_.load(std::memory_order_relaxed)) {
        }
      });
    }
  }
  ~BusyCores() {
    ending_ = true;
    for (auto& thread : threads_) {
      thread.join();
    }
  }
  BusyCores(const BusyCores&) = delete;
  BusyCores& operator=(const BusyCores&) = delete;

 private:
  std::atomic<bool> ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

EnergyCounter::EnergyCounter(const fs::path& zones) {
  std::error_code ignored;
  for (const auto& zone : fs::directory_iterator(zones, ignored)) {
    const double now_uj = number_in(zone.path() / "energy_uj");
    const double range_uj = number_in(zone.path() / "max_energy_range_uj");
    if (word_in(zone.path() / "name").starts_with("package") && now_uj >= 0 && range_uj > 0) {
      packages_.push_back({zone.path() / "energy_uj", range_uj, now_uj});
    }
  }
}

double EnergyCounter::joules() {
  for (auto& [energy, range_uj, last_uj] : packages_) {
    const double now_uj = number_in(energy);
    if (now_uj >= 0) {
      joules_ += (now_uj - last_uj + (now_uj < last_uj ? range_uj : 0)) * 1e-6;
      last_uj = now_uj;
    }
  }
  return joules_;
}

Running measure_power(EnergyCounter& counter, int cores, double time_limit_s, const std::atomic<bool>* stop) {
  Running running;
  if (!counter.works()) {
    return running;
  }
  throw_if_stopped(stop);
  const double idle_w = watts(counter, time_limit_s / 2);
  throw_if_stopped(stop);
  const BusyCores busy(cores);
  const double busy_w = watts(counter, time_limit_s / 2);
  // A counter that does not advance, or decreases under load, is unusable.
  if (idle_w > 0 && busy_w > idle_w) {
    running.idle_w = idle_w;
    running.core_w = (busy_w - idle_w) / cores;
  }
  return running;
}

Running measure_power_here(int cores, const std::atomic<bool>* stop) {
  constexpr double time_limit_s = 0.4;  // counters move every millisecond
  EnergyCounter energy;
  return measure_power(energy, cores, time_limit_s, stop);
}

}  // namespace gnomon::profiles
