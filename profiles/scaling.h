#pragma once

#include <vector>

#include "profiles/profile.h"

namespace gnomon::profiles {

/// Speed with `threads` threads over that with one: linear between the measured points and, beyond the last
/// one, by Amdahl's law with serial_share(points), continued from that point. 1 without points; one thread
/// has the value 1 if it was not measured.
double speedup_at(const std::vector<ScalingPoint>& points, int threads);

/// Speed of each of `workers` workers over that of one alone: linear between the measured points and, beyond
/// the last one, 1 / (1 + c (workers - 1)) with c = contention_share(points), continued from that point. 1
/// without points.
double worker_efficiency_at(const std::vector<ScalingPoint>& points, int workers);

/// The share f of the work that one thread does alone, from 0 to 1: of the speed-ups 1 / (f + (1 - f) / t)
/// (Amdahl's law) those closest to the measured ones, by least squares of the times. 1 if no point has more
/// than one thread.
double serial_share(const std::vector<ScalingPoint>& points);

/// What another worker adds to the time of each, as a share c >= 0 of a worker's time alone: of the
/// efficiencies 1 / (1 + c (w - 1)) those closest to the measured ones, by least squares of the times
/// (Gunther's universal scalability law without its coherency). 0 if no point has more than one worker.
double contention_share(const std::vector<ScalingPoint>& points);

}  // namespace gnomon::profiles
