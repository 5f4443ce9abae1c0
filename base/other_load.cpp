#include "base/other_load.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/cores.h"

namespace gnomon::base {
namespace {

/// CPU time of this process and of its children that have been waited for, in seconds.
double own_seconds() {
  timespec own{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
  rusage children{};
  ::getrusage(RUSAGE_CHILDREN, &children);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return static_cast<double>(own.tv_sec) + 1e-9 * static_cast<double>(own.tv_nsec) +
         seconds(children.ru_utime) + seconds(children.ru_stime);
}

std::optional<CpuTimes> cpu_times_now() {
  std::ifstream stream("/proc/stat");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  return parse_cpu_times(text, allowed_core_numbers(), static_cast<double>(::sysconf(_SC_CLK_TCK)));
}

/// Adds the counters of one line, in the order of proc(5): user, nice, system, idle, iowait, irq, softirq,
/// steal. The guest time that follows is already part of the user time.
void add_line(std::istringstream& counters, double ticks_per_s, CpuTimes& sum) {
  std::array<double, 8> ticks{};
  for (auto& count : ticks) {
    counters >> count;  // older kernels have fewer: the rest stays 0
  }
  sum.busy_s += (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) / ticks_per_s;
  sum.idle_s += (ticks[3] + ticks[4]) / ticks_per_s;
  sum.steal_s += ticks[7] / ticks_per_s;
}

std::string percent(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

}  // namespace

std::optional<CpuTimes> parse_cpu_times(std::string_view proc_stat, std::span<const int> cores,
                                        double ticks_per_s) {
  CpuTimes sum;
  bool is_found = false;
  std::istringstream lines{std::string(proc_stat)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    const bool is_wanted = std::any_of(cores.begin(), cores.end(),
                                       [&](int core) { return name == "cpu" + std::to_string(core); });
    if (is_wanted) {
      add_line(words, ticks_per_s, sum);
      is_found = true;
    }
  }
  return is_found ? std::optional(sum) : std::nullopt;
}

std::optional<OtherLoad> load_between(const CpuTimes& begin, const CpuTimes& end, double own_s) {
  constexpr double min_time_s = 0.5;
  const double busy_s = end.busy_s - begin.busy_s;
  const double steal_s = end.steal_s - begin.steal_s;
  const double all_s = busy_s + steal_s + end.idle_s - begin.idle_s;
  if (all_s < min_time_s) {
    return std::nullopt;
  }
  const auto share = [all_s](double seconds) { return std::clamp(seconds / all_s, 0.0, 1.0); };
  return OtherLoad{share(busy_s - own_s), share(steal_s)};
}

LoadMeter::LoadMeter() : begin_(cpu_times_now()), own_begin_s_(own_seconds()) {}

std::optional<OtherLoad> LoadMeter::load() const {
  const auto end = cpu_times_now();
  return begin_ && end ? load_between(*begin_, *end, own_seconds() - own_begin_s_) : std::nullopt;
}

std::string busy_text(const std::optional<OtherLoad>& load) {
  if (!load || !load->is_busy()) {
    return "";
  }
  std::string text = "the machine was busy: other processes took " + percent(load->processes_share);
  if (load->steal_share >= 0.005) {
    text += " and other guests of the host " + percent(load->steal_share);
  }
  return text + " of its cores' time, so measured times are likely to be too long";
}

}  // namespace gnomon::base
