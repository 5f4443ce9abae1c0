#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "profiles/catalog.h"
#include "profiles/machine_store.h"
#include "runtime/device_options.h"

namespace gnomon::profiles {

/// Where the speeds of known_machine() come from.
enum class KnownBy : std::uint8_t {
  stored,    ///< the store, and a check agreed with them
  measured,  ///< measured now, as none were stored
  drifted,   ///< measured now, as they differ from the stored ones
};

/// This machine with its speeds.
struct KnownMachine {
  CatalogMachine machine;  ///< has speeds and key
  KnownBy by = KnownBy::measured;
  double seconds = 0;  ///< duration of the check and the measurement
  std::string note;    ///< drift, damaged documents and why nothing was stored, as one line; mostly empty
};

/// Options of known_machine().
struct KnownMachineOptions {
  double time_limit_s = 0.8;                ///< of a measurement of the host; a GPU takes additional time
  runtime::DeviceOptions device = {};       ///< also measured if it is a GPU
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: throws base::Interrupted
  base::Progress progress = {};
};

/// This machine's speeds: the stored ones if a check (drift()) agrees with them, otherwise those of a brief
/// measurement (SpeedScope::brief), which is then stored. What is stored stays if the brief measurement
/// agrees with it after all, or if the machine is busy now and was not then. Imprecise rates
/// (max_stored_interval) are measured again instead of checked, and the more precise ones are stored. Throws
/// Interrupted, and InputError if there is no such device.
KnownMachine known_machine(const KnownMachineOptions& options);

/// What known_machine() measures with; for tests.
struct MachineProbes {
  std::function<MachineSpeeds()> check;     ///< the rates that drift() compares
  std::function<CatalogMachine()> measure;  ///< all rates
};
KnownMachine known_machine(const MachineKey& key, const MachineStore& store, const MachineProbes& probes);

/// Relative difference of rates, apart from their confidence intervals, that counts as drift: as much as two
/// measurements of one machine differ (visit_deviation in speed_ratio.h, twice).
inline constexpr double drift_tolerance = 0.2;

/// Median confidence interval of stored rates beyond which they are imprecise, as of a busy machine: hardly
/// any check would differ from them.
inline constexpr double max_stored_interval = 0.2;

/// A rate that changed.
struct Drift {
  Work work = Work::copies;
  int threads = 1;
  double ratio = 1;  ///< current over stored rate
};

/// The rates of dense products and copies on one thread, and of random reads of memory on one thread and on
/// all, that differ from the stored ones by more than both confidence intervals and drift_tolerance. Rates
/// that one side lacks are skipped.
std::vector<Drift> drift(const MachineSpeeds& stored, const MachineSpeeds& now);

/// "random_lines on 2 threads 0.61 times the stored rate, …".
std::string text_of(const std::vector<Drift>& drift);

/// Measures the rates that drift() compares, in a few hundredths of a second.
MachineSpeeds measure_checked_speeds(const std::atomic<bool>* stop = nullptr);

/// Stores a machine that was measured at length, unless a longer measurement is stored from which it has not
/// drifted. Returns why it was not stored, as one line; empty if it was.
std::string store_measured(const CatalogMachine& machine, const MachineStore& store);

}  // namespace gnomon::profiles
