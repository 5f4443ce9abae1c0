#pragma once

#include <vector>

#include "profiles/profile.h"

namespace gnomon::profiles {

/// Speed-up by `threads` threads: linear between the measured points and extrapolated from the last one by
/// Amdahl's law with serial_share(points). 1 without points; one thread has the value 1 if it was not
/// measured.
double speedup_at(const std::vector<ScalingPoint>& points, int threads);

/// Speed of each of `workers` workers relative to one alone: linear between the measured points and
/// extrapolated from the last one by 1 / (1 + c (workers - 1)) with c = contention_share(points). 1 without
/// points.
double worker_efficiency_at(const std::vector<ScalingPoint>& points, int workers);

/// The serial share f of the work, from 0 to 1: Amdahl's law, speed-up 1 / (f + (1 - f) / t), fitted to the
/// measured times by least squares. 1 if no point has more than one thread.
double serial_share(const std::vector<ScalingPoint>& points);

/// The contention parameter c >= 0, by which each further worker slows all others down: the efficiency 1 / (1
/// + c (w - 1)) fitted to the measured times by least squares (Gunther's universal scalability law without
/// coherency). 0 if no point has more than one worker.
double contention_share(const std::vector<ScalingPoint>& points);

}  // namespace gnomon::profiles
