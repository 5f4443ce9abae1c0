#include "profiles/measure/known_machine.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <utility>

#include "base/median.h"
#include "base/team.h"
#include "base/usable.h"
#include "profiles/measure/host_probes.h"
#include "profiles/measure/probe.h"
#include "profiles/measure/speeds.h"
#include "profiles/measure/statistics.h"
#include "profiles/measure/tensor_probes.h"

namespace gnomon::profiles {
namespace {

constexpr std::int64_t checked_width = 64;
constexpr int library_warm_ups = 3;  ///< until LibTorch and the library of its products are at full speed

/// A kind and size of work that is checked.
struct Checked {
  Work work;
  double size;
  bool all_threads = false;
};
constexpr std::array<Checked, 4> checked{{{Work::dense_fp32, checked_width},
                                          {Work::random_lines, checked_lines_bytes},
                                          {Work::copies, checked_copy_bytes},
                                          {Work::random_lines, checked_lines_bytes, true}}};

/// The largest number of threads of a measurement.
int max_threads(const MachineSpeeds& speeds) {
  int threads = 1;
  for (const Speed& speed : speeds.speeds) {
    threads = std::max(threads, speed.threads);
  }
  return threads;
}

/// The widest confidence interval of the speeds that a rate was interpolated from.
double interval_of(const MachineSpeeds& speeds, const RateAt& rate) {
  double interval = 0;
  for (const auto& [index, weight] : rate.weights) {
    interval = std::max(interval, speeds.speeds[index].interval);
  }
  return interval;
}

bool has_drifted(double ratio, double interval) {
  return std::max(ratio, 1 / ratio) > 1 + drift_tolerance + interval;
}

/// Adds a sentence to a line.
void add_note(std::string& note, const std::string& more) {
  note += (note.empty() || more.empty() ? "" : "; ") + more;
}

/// Why the machine was not stored, unless the user asked for that.
std::string store_note(const MachineStore& store, const CatalogMachine& machine, Replace replace) {
  const auto why = store.store(machine, replace);
  return why.empty() || store.is_off() ? "" : "the machine's speeds are not stored: " + why;
}

double median_interval_of(const MachineSpeeds& speeds) {
  std::vector<double> intervals;
  for (const Speed& speed : speeds.speeds) {
    intervals.push_back(speed.interval);
  }
  return intervals.empty() ? 1 : base::median(intervals);
}

bool was_busy(const MachineSpeeds& speeds) { return speeds.other_load && speeds.other_load->is_busy(); }

/// Measures the machine and gives it its key.
void measure_new(KnownMachine& known, const MachineKey& key, const MachineProbes& probes) {
  known.machine = probes.measure();
  known.machine.key = key;
  known.by = KnownBy::measured;
}

/// Measures a machine of which imprecise rates are stored, and keeps the more precise ones.
void improve(KnownMachine& known, CatalogMachine stored, const MachineKey& key, const MachineStore& store,
             const MachineProbes& probes) {
  measure_new(known, key, probes);
  if (median_interval_of(*known.machine.speeds) < median_interval_of(*stored.speeds)) {
    add_note(known.note, store_note(store, known.machine, Replace::always));
  } else {
    known.machine = std::move(stored);
    known.by = KnownBy::stored;
  }
}

/// Measures a machine whose check differed from what is stored.
void measure_again(KnownMachine& known, CatalogMachine stored, const MachineKey& key,
                   const MachineStore& store, const MachineProbes& probes) {
  measure_new(known, key, probes);
  const auto changes = drift(stored.speeds.value(), known.machine.speeds.value());
  if (changes.empty()) {
    known.machine = std::move(stored);
    known.by = KnownBy::stored;
    return;
  }
  known.by = KnownBy::drifted;
  add_note(known.note, "the machine's speeds have changed: " + text_of(changes));
  if (was_busy(*known.machine.speeds) && !was_busy(*stored.speeds)) {
    add_note(known.note, "the stored ones are kept, as " + base::busy_text(known.machine.speeds->other_load));
  } else {
    add_note(known.note, store_note(store, known.machine, Replace::always));
  }
}

}  // namespace

std::vector<Drift> drift(const MachineSpeeds& stored, const MachineSpeeds& now) {
  std::vector<Drift> changes;
  const int all = std::min(max_threads(stored), max_threads(now));
  for (const auto& [work, size, all_threads] : checked) {
    const int threads = all_threads ? all : 1;
    const auto before = rate_at(stored, work, size, threads);
    const auto after = rate_at(now, work, size, threads);
    if (!before || !after || (all_threads && all == 1)) {
      continue;
    }
    const double ratio = after->per_s / before->per_s;
    if (has_drifted(ratio, interval_of(stored, *before) + interval_of(now, *after))) {
      changes.push_back({work, threads, ratio});
    }
  }
  return changes;
}

std::string text_of(const std::vector<Drift>& drift) {
  std::string text;
  for (const auto& [work, threads, ratio] : drift) {
    char number[32];
    std::snprintf(number, sizeof number, "%.2f", ratio);
    text += (text.empty() ? "" : ", ") + std::string(base::name_of(work)) +
            (threads > 1 ? " on " + std::to_string(threads) + " threads " : " ") + number +
            " times the stored rate";
  }
  return text;
}

MachineSpeeds measure_checked_speeds(const std::atomic<bool>* stop) {
  const Stopwatch watch;
  auto probes = check_probes(std::make_shared<base::Team>(base::usable_cores()));
  probes.push_back(dense_probe(checked_width));
  for (int i = 0; i < library_warm_ups; ++i) {
    probes.back().run();
  }
  MachineSpeeds speeds{.asked_interval = 0.05};
  speeds.speeds = measure_speeds(probes, {.asked_interval = speeds.asked_interval,
                                          .time_limit_s = 0.01,
                                          .visit_s = 0.001,
                                          .max_warm_up_s = 0.0005,
                                          .stop = stop});
  speeds.seconds = watch.seconds();
  return speeds;
}

KnownMachine known_machine(const MachineKey& key, const MachineStore& store, const MachineProbes& probes) {
  const Stopwatch watch;
  KnownMachine known;
  auto entry = store.find(key);
  known.note = entry.problem;
  if (!entry.machine) {
    measure_new(known, key, probes);
    add_note(known.note, store_note(store, known.machine, Replace::shorter));
  } else if (median_interval_of(*entry.machine->speeds) > max_stored_interval) {
    improve(known, *std::move(entry.machine), key, store, probes);
  } else if (drift(entry.machine->speeds.value(), probes.check()).empty()) {
    known.machine = *std::move(entry.machine);
    known.by = KnownBy::stored;
  } else {
    measure_again(known, *std::move(entry.machine), key, store, probes);
  }
  known.seconds = watch.seconds();
  return known;
}

KnownMachine known_machine(const KnownMachineOptions& options) {
  const bool has_gpu = options.device.kind == DeviceKind::cuda;
  return known_machine(machine_key(has_gpu), MachineStore(),
                       {.check = [&] { return measure_checked_speeds(options.stop); },
                        .measure =
                            [&] {
                              return measure_whole_machine({.time_limit_s = options.time_limit_s,
                                                            .scope = SpeedScope::brief,
                                                            .device = options.device,
                                                            .stop = options.stop,
                                                            .progress = options.progress});
                            }});
}

std::string store_measured(const CatalogMachine& machine, const MachineStore& store) {
  const auto old = store.find(machine.key.value());
  const bool is_current = old.machine && drift(*old.machine->speeds, machine.speeds.value()).empty();
  return store.store(machine, is_current ? Replace::shorter : Replace::always);
}

}  // namespace gnomon::profiles
