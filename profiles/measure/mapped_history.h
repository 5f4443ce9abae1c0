#pragma once

#include <cstdint>
#include <optional>

#include "plan/job.h"
#include "plan/plan.h"
#include "runtime/training/history.h"

namespace gnomon::profiles {

/// Embeddings for measurements, if the plan keeps any: ones, as only times matter, in memory whose pages have
/// been written, as those of a training have.
std::optional<runtime::History> mapped_history(const plan::Plan& plan, const plan::Job& job,
                                               std::int64_t vertices);

}  // namespace gnomon::profiles
