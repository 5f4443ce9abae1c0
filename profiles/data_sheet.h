#pragma once

#include <optional>

#include "profiles/profile.h"

namespace gnomon::profiles {

/// Minimum times of a mini-batch's stages in seconds.
struct StageBounds {
  double transfer_s = 0;
  double device_batch_s = 0;
  double device_batch_link_s = 0;  ///< of it, over the link
  double train_s = 0;
};

/// What no program can do faster on the profile's GPU, by the peaks of its data sheet: copying a mini-batch
/// at the bandwidth of the link, reading its feature rows once at that of the link (by the device, from host
/// memory) and of the device's memory (to train), and multiplying in all layers but the last, whose width
/// profiles do not hold, at the peak of products. Unknown peaks and profiles without hops make a bound lower.
/// None if the device is not a GPU, or if nothing is known of it or of the mini-batch's size.
std::optional<StageBounds> data_sheet_bounds(const Profile& profile);

/// The profile with all stages at these bounds: those of which a data sheet says nothing, such as preparation
/// on the CPU, take no time, and stages do not slow each other down. The lower bound of a plan's epoch on it
/// holds for the profile's machine whatever its stages really take.
Profile at_data_sheet_bounds(Profile profile, const StageBounds& bounds);

}  // namespace gnomon::profiles
