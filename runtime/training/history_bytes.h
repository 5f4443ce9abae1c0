#pragma once

#include <cstdint>

#include "plan/job.h"
#include "plan/plan.h"

namespace gnomon::runtime {

/// The memory of the historical embeddings (runtime/training/history.h) that a training of so many vertices
/// keeps; 0 if its plan keeps none.
std::int64_t history_bytes(const plan::Plan& plan, const plan::Job& job, std::int64_t vertices);

}  // namespace gnomon::runtime
