#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/document.h"

namespace gnomon::profiles {

/// Ratio of measured to predicted time of a stage in real runs.
struct Correction {
  double ratio = 1;
  double standard_error = 0;  ///< of the ratio
  std::int64_t batches = 0;   ///< measured

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("ratio", self.ratio, base::Range{0.01, 100});
    f.required("standard_error", self.standard_error, base::non_negative);
    f.required("batches", self.batches, base::Range{1, 1e12});
  }
};

/// Corrections from real runs, for the stages in those runs. The predicted times, of the same plans, are the
/// times alone including contention.
struct Corrections {
  std::optional<Correction> cpu_batch{};
  std::optional<Correction> transfer{};
  std::optional<Correction> device_batch{};
  std::optional<Correction> train{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("cpu_batch", self.cpu_batch);
    f("transfer", self.transfer);
    f("device_batch", self.device_batch);
    f("train", self.train);
  }
};

/// All stages that may be corrected.
inline constexpr std::array<std::optional<Correction> Corrections::*, 4> all_corrections{
    {&Corrections::cpu_batch, &Corrections::transfer, &Corrections::device_batch, &Corrections::train}};

/// Returns the ratio to predict with: 1 if the stage was not measured.
inline double ratio_of(const std::optional<Correction>& correction) {
  return correction ? correction->ratio : 1.0;
}

}  // namespace gnomon::profiles
