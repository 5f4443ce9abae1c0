#pragma once

#include <optional>
#include <span>
#include <vector>

#include "schedule/machine.h"

namespace gnomon::profiles {

/// The spans of a pipelined epoch that begin while all of its stages run: after the first third of its
/// trainings, when buffers have filled, and before the last third, when earlier stages may have ended.
std::vector<schedule::StageSpan> steady_part(std::span<const schedule::StageSpan> epoch);

/// The mean time of a stage's spans over `alone_s`; none without any.
std::optional<double> mean_ratio(std::span<const schedule::StageSpan> spans, schedule::Stage stage,
                                 double alone_s);

/// The slowdown of a stage that takes `alone_s` alone by another stage's spans (Slowdown).
std::optional<double> slowdown_beside(std::span<const schedule::StageSpan> spans, schedule::Stage stage,
                                      double alone_s, schedule::Stage beside);

}  // namespace gnomon::profiles
