#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/progress.h"
#include "profiles/catalog.h"
#include "runtime/device_options.h"

namespace gnomon::profiles {

/// How much measure_whole_machine() measures.
enum class SpeedScope : std::uint8_t {
  full,
  /// In a second: sizes that mini-batches need, as many samples as the time allows, at least three, and
  /// neither power nor disk. A GPU's properties take additional time.
  brief,
};

/// Options of measure_whole_machine().
struct SpeedOptions {
  double asked_interval = 0.02;  ///< half width of the 95 % confidence intervals, relative to the rate
  double time_limit_s = 40;      ///< for everything; there is a minimum number of samples
  SpeedScope scope = SpeedScope::full;
  std::size_t max_bytes = std::size_t{256} << 20;  ///< of the largest working set, at least 1 MiB
  std::filesystem::path disk{};                    ///< directory on the disk to measure; empty: none
  runtime::DeviceOptions device = {};              ///< also measured if it is a GPU
  const std::atomic<bool>* stop = nullptr;         ///< set from outside: throws base::Interrupted
  base::Progress progress = {};
};

/// Measures this machine independently of any job: bandwidths and power (machine.h), the speeds of its cores
/// by kinds of work (speeds.h), the disk under a directory with a temporary file of 64 MiB, and the GPU.
/// Hardware that the machine lacks is absent. Uses memory of four times `max_bytes`. Throws InputError if
/// there is no such device, and Interrupted.
CatalogMachine measure_whole_machine(const SpeedOptions& options);

}  // namespace gnomon::profiles
