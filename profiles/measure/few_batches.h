#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "profiles/measure/accesses.h"
#include "profiles/measure/bench.h"

namespace gnomon::profiles {

/// The mini-batches of a short measurement: those that warm up, and the measured ones after them.
constexpr std::int64_t few_warm_ups = 2;
constexpr std::int64_t few_measured = 14;

/// Runs the stages of the first mini-batches of an epoch, mini-batch by mini-batch: as many as there is time
/// for, but some even after the time limit. Returns the spans of all.
std::vector<schedule::StageSpan> run_few(Bench& bench, std::initializer_list<schedule::Stage> stages,
                                         const AccessOptions& options);

/// Runs the stages of mini-batches of two benches, a few of each in turn, so that both see the same state of
/// the machine: as many as there is time for, but some even after the time limit. Mini-batches are repeated.
/// Returns the spans of each.
std::pair<std::vector<schedule::StageSpan>, std::vector<schedule::StageSpan>> run_beside(
    Bench& first, Bench& second, std::initializer_list<schedule::Stage> stages, const AccessOptions& options);

/// Prepares the first mini-batch of an epoch by these stages, trains it, and returns its size.
runtime::BatchSize first_size(Bench& bench, std::initializer_list<schedule::Stage> preparation);

/// The median time of a stage of the measured mini-batches; of all if there are no others.
double median_s(const std::vector<schedule::StageSpan>& spans, schedule::Stage stage);

/// What a quarter of them does not exceed, for ratios of two: bursts of other work, which may lie in one of
/// the two only, make times longer.
double lower_quartile_s(const std::vector<schedule::StageSpan>& spans, schedule::Stage stage);

}  // namespace gnomon::profiles
